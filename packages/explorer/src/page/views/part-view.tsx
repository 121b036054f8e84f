import { useMemo, useState } from 'preact/hooks'
import { leaderOf, readOverlay, readPropagation, type Overlay } from '../api/trackers.ts'
import type { Theme } from '../colours.ts'
import { formatCount, formatMs, plural, shortId, splitPart } from '../format.ts'
import { OverlayGraph } from '../graph/overlay-graph.tsx'
import { colourings, type Coloring } from '../graph/scene.ts'
import { shapeOf } from '../layout/layout-input.ts'
import { NodeLink } from '../parts/ids.tsx'
import { Notice } from '../parts/notice.tsx'
import { nodeHref, partHref, type PartShow, type Route } from '../route.ts'
import { usePolled } from '../use-polled.ts'
import { OverlayFacts } from './overlay-facts.tsx'
import { OverlayTables, transportNames } from './overlay-tables.tsx'

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
}

const shows: readonly { readonly show: PartShow; readonly label: string }[] = [
  { show: 'graph', label: 'Graph' },
  { show: 'table', label: 'Table' },
]

/** One overlay: its picture, its figures, and its nodes and edges as text. */
export function PartView({ route: { partId, show, nodeId }, bases, theme }: PartViewProps) {
  const leader = usePolled(bases && `${bases.join()} ${partId}`, overlayEveryMs, (signal) =>
    leaderOf(bases ?? [], partId, signal),
  )
  const base = leader.value
  const [isLarge, setLarge] = useState(false)
  const overlay = usePolled(
    base && `${base} ${partId}`,
    isLarge ? largeEveryMs : overlayEveryMs,
    async (signal) => {
      const read = await readOverlay(base ?? '', partId, signal)
      setLarge(read.nodes.length > largeOverlay)
      return read
    },
  )
  const propagation = usePolled(base && `${base} ${partId}`, propagationEveryMs, (signal) =>
    readPropagation(base ?? '', partId, signal),
  )
  const { path, owner, partition } = splitPart(partId)
  const { value } = overlay
  const failure = leader.failure ?? overlay.failure
  return (
    <section class="part-view">
      <div class="part-head">
        <div>
          <h1>{path}</h1>
          <p class="part-more" title={partId}>
            {shortId(owner)} · partition {partition}
            {value !== undefined && <> · {plural(value.nodeCount, 'node')}</>}
          </p>
        </div>
        <nav class="tabs" aria-label="What to show of the overlay">
          {shows.map(({ show: other, label }) => (
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
      <Notice failure={failure} readAtMs={value && overlay.readAtMs} />
      {value === undefined ? (
        failure === undefined && <p class="empty">Asking for the overlay…</p>
      ) : (
        <Shown overlay={value} show={show} theme={theme} nodeId={nodeId} propagation={propagation.value} />
      )}
    </section>
  )
}

interface ShownProps {
  readonly overlay: Overlay
  readonly show: PartShow
  readonly theme: Theme
  readonly nodeId: string | undefined
  readonly propagation: Awaited<ReturnType<typeof readPropagation>> | undefined
}

const nobody: ReadonlySet<string> = new Set()

function Shown({ overlay, show, theme, nodeId, propagation }: ShownProps) {
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
        {show === 'table' ? (
          <OverlayTables overlay={overlay} />
        ) : (
          <div class="picture">
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
            <OverlayGraph
              {...{ shape, theme, coloring, selected: nodeId, self: undefined, storage: nobody }}
              onSelect={select}
              onOpen={(opened) => (location.hash = nodeHref(opened))}
            />
          </div>
        )}
        <aside class="facts" aria-label="Figures of the overlay">
          {nodeId !== undefined && (
            <SelectedNode nodeId={nodeId} overlay={overlay} onClose={() => select(undefined)} />
          )}
          <OverlayFacts overlay={overlay} propagation={propagation} theme={theme} />
        </aside>
      </div>
    </>
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
        <NodeLink nodeId={nodeId} />
        <button type="button" class="icon" aria-label="Let the node go" onClick={onClose}>
          ×
        </button>
      </h2>
      {own.length === 0 && <p class="empty">It is not in this overlay at the moment.</p>}
      <ul class="neighbours">
        {own.map(({ a, b, rttMs, transport, near }) => (
          <li key={a + b}>
            <NodeLink nodeId={a === nodeId ? b : a} />
            <span>{near ? 'near' : 'random'}</span>
            <span>{transportNames[transport ?? 'unknown']}</span>
            <span class="number">{formatMs(rttMs)}</span>
          </li>
        ))}
      </ul>
    </div>
  )
}
