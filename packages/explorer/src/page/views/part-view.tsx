import { useMemo, useState } from 'preact/hooks'
import type { Propagation } from '../api/answers.ts'
import { leaderOf, readOverlay, readPropagation, type Overlay, type TrackerState } from '../api/trackers.ts'
import type { Theme } from '../colours.ts'
import { formatCount, formatMs, partitionText, plural, shortId, splitPart } from '../format.ts'
import { OverlayGraph } from '../graph/overlay-graph.tsx'
import { colourings, type Coloring } from '../graph/scene.ts'
import { shapeOf } from '../layout/layout-input.ts'
import { useMembership, type Live } from '../live/use-membership.ts'
import { Copy } from '../parts/copy.tsx'
import { NodeLink } from '../parts/ids.tsx'
import { Notice } from '../parts/notice.tsx'
import { nodeHref, partHref, type PartShow, type Route } from '../route.ts'
import { nameOfTransport } from '../transports.ts'
import { usePolled, type Polled } from '../use-polled.ts'
import { WorldMap } from '../world/world-map.tsx'
import { LiveView, OwnNode } from './live-view.tsx'
import { OverlayFacts } from './overlay-facts.tsx'
import { OverlayTables } from './overlay-tables.tsx'

const overlayEveryMs = 2_000
/** Large overlays are asked for more rarely. */
const largeEveryMs = 8_000
const largeOverlay = 1_000
const propagationEveryMs = 10_000

export interface PartViewProps {
  readonly route: Extract<Route, { view: 'part' }>
  readonly bases: readonly string[] | undefined
  readonly home: string
  readonly theme: Theme
  readonly trackers: readonly TrackerState[] | undefined
}

const shows: readonly { readonly show: PartShow; readonly label: string }[] = [
  { show: 'graph', label: 'Graph' },
  { show: 'map', label: 'Map' },
  { show: 'table', label: 'Table' },
  { show: 'live', label: 'Live' },
]

const nobody: ReadonlySet<string> = new Set()

/** One overlay: its picture, its figures, its nodes and edges as text, and what is published in it. */
export function PartView({ route, bases, home, theme, trackers }: PartViewProps) {
  const { partId, show: wanted, nodeId } = route
  const live = useMembership(partId, bases?.[0] ?? home)
  const leader = usePolled(bases && partId, overlayEveryMs, (signal) => leaderOf(bases ?? [], partId, signal))
  const base = leader.value?.base
  const [isLarge, setLarge] = useState(false)
  const overlay = usePolled(base && partId, isLarge ? largeEveryMs : overlayEveryMs, async (signal) => {
    const read = await readOverlay(base ?? '', partId, signal)
    setLarge(read.nodes.length > largeOverlay)
    return read
  })
  const propagation = usePolled(base && partId, propagationEveryMs, (signal) =>
    readPropagation(base ?? '', partId, signal),
  )
  const { value } = overlay
  // An address that names the map is kept until it is known that there is none.
  const hasMap = value === undefined ? wanted === 'map' : value.places.size > 0
  const show = wanted === 'map' && !hasMap ? 'graph' : wanted
  const failure = leader.failure ?? overlay.failure
  const storedBy = leader.value?.storageNodes.join() ?? ''
  const storage = useMemo(() => (storedBy === '' ? nobody : new Set(storedBy.split(','))), [storedBy])
  return (
    <section class="part-view">
      <PartHead {...{ partId, show, nodeId, hasMap }} nodeCount={value?.nodeCount} />
      <Notice failure={failure} readAtMs={value && overlay.readAtMs} />
      {value !== undefined ? (
        <Shown
          {...{
            overlay: value,
            show,
            theme,
            nodeId,
            live,
            propagation,
            storage,
            trackers,
          }}
        />
      ) : show === 'live' ? (
        <LiveView live={live} />
      ) : (
        failure === undefined && <p class="empty">Asking for the overlay…</p>
      )}
    </section>
  )
}

interface PartHeadProps {
  readonly partId: string
  readonly show: PartShow
  readonly nodeId: string | undefined
  readonly nodeCount: number | undefined
  /** Whether places of nodes are known. */
  readonly hasMap: boolean
}

function PartHead({ partId, show, nodeId, nodeCount, hasMap }: PartHeadProps) {
  const { path, owner, partition } = splitPart(partId)
  return (
    <div class="part-head">
      <div>
        <h1>{path}</h1>
        <p class="part-more" title={partId}>
          {shortId(owner)} · {partitionText(partition)}
          <Copy text={partId.slice(0, partId.lastIndexOf('#'))} what="the stream's id" />
          {nodeCount !== undefined && <> · {plural(nodeCount, 'node')}</>}
        </p>
      </div>
      <nav class="tabs" aria-label="What to show of the overlay">
        {shows
          .filter(({ show: other }) => other !== 'map' || hasMap)
          .map(({ show: other, label }) => (
            <a
              key={other}
              href={partHref(partId, other, nodeId)}
              aria-current={other === show ? 'page' : undefined}
            >
              {label}
            </a>
          ))}
      </nav>
    </div>
  )
}

interface ShownProps {
  readonly overlay: Overlay
  readonly show: PartShow
  readonly theme: Theme
  readonly nodeId: string | undefined
  readonly propagation: Polled<Propagation>
  readonly live: Live
  readonly storage: ReadonlySet<string>
  readonly trackers: readonly TrackerState[] | undefined
}

function Shown({ overlay, show, theme, nodeId, propagation, live, storage, trackers }: ShownProps) {
  const [coloring, setColoring] = useState<Coloring>('rtt')
  const shape = useMemo(() => shapeOf(overlay.nodes, overlay.edges), [overlay])
  const { partId } = overlay
  const select = (selected: string | undefined) => {
    // Not an entry of the history each: going back leaves the overlay.
    location.replace(partHref(partId, show, selected))
  }
  return (
    <>
      {overlay.nodes.length < overlay.nodeCount && (
        <p class="notice">
          The overlay has {formatCount(overlay.nodeCount)} nodes; the first{' '}
          {formatCount(overlay.nodes.length)} are shown.
        </p>
      )}
      <div class="part-body" data-show={show}>
        {show === 'table' && <OverlayTables overlay={overlay} />}
        {show === 'live' && <LiveView live={live} />}
        {(show === 'graph' || show === 'map') && (
          <div class="picture">
            <ColoringChoice {...{ coloring, setColoring }} />
            {show === 'map' ? (
              <WorldMap {...{ overlay, theme, coloring, trackers }} />
            ) : (
              <OverlayGraph
                {...{ shape, theme, coloring, storage, selected: nodeId, self: live.state?.nodeId }}
                onSelect={select}
                onOpen={(opened) => (location.hash = nodeHref(opened))}
              />
            )}
          </div>
        )}
        <aside class="facts" aria-label="Figures of the overlay">
          {nodeId !== undefined && (
            <SelectedNode nodeId={nodeId} overlay={overlay} onClose={() => select(undefined)} />
          )}
          {live.state !== undefined && <OwnNode state={live.state} />}
          <OverlayFacts {...{ overlay, propagation, theme, log: live.state?.log }} />
        </aside>
      </div>
    </>
  )
}

interface ColoringChoiceProps {
  readonly coloring: Coloring
  readonly setColoring: (coloring: Coloring) => void
}

function ColoringChoice({ coloring, setColoring }: ColoringChoiceProps) {
  return (
    <div class="segmented" role="group" aria-label="Colour edges by">
      {colourings.map((option) => (
        <button
          key={option}
          type="button"
          aria-pressed={option === coloring}
          onClick={() => setColoring(option)}
        >
          {option === 'rtt' ? 'Round trip' : 'Transport'}
        </button>
      ))}
    </div>
  )
}

function SelectedNode({
  nodeId,
  overlay,
  onClose,
}: {
  readonly nodeId: string
  readonly overlay: Overlay
  onClose(): void
}) {
  const own = overlay.edges.filter(({ a, b }) => a === nodeId || b === nodeId)
  return (
    <div class="card">
      <h2>
        <span class="with-copy">
          <NodeLink nodeId={nodeId} />
          <Copy text={nodeId} what="the node's id" />
        </span>
        <button type="button" class="icon" aria-label="Deselect the node" onClick={onClose}>
          ×
        </button>
      </h2>
      {own.length === 0 && <p class="empty">It is not in this overlay at the moment.</p>}
      <ul class="neighbours">
        {own.map(({ a, b, rttMs, near, ...link }) => (
          <li key={a + b}>
            <NodeLink nodeId={a === nodeId ? b : a} />
            <span>{near ? 'near' : 'random'}</span>
            <span>{nameOfTransport(link)}</span>
            <span class="number">{formatMs(rttMs)}</span>
          </li>
        ))}
      </ul>
    </div>
  )
}
