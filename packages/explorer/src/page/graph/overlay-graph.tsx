import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { Theme } from '../colours.ts'
import { formatMs, plural, shortId } from '../format.ts'
import { LayoutClient } from '../layout/layout-client.ts'
import type { GraphShape } from '../layout/layout-input.ts'
import { keyAction } from './graph-keys.ts'
import { GraphView } from './graph-view.ts'
import { Legend } from './legend.tsx'
import { scaleOf, type Coloring, type Scene } from './scene.ts'

export interface OverlayGraphProps {
  readonly shape: GraphShape
  readonly theme: Theme
  readonly coloring: Coloring
  readonly storage: ReadonlySet<string>
  readonly self: string | undefined
  readonly selected: string | undefined
  onSelect(nodeId: string | undefined): void
  onOpen(nodeId: string): void
}

/** The picture of an overlay. What it shows stands in the tables of the page as well. */
export function OverlayGraph(props: OverlayGraphProps) {
  const { shape, theme, coloring, storage, self, selected, onSelect, onOpen } = props
  const canvas = useRef<HTMLCanvasElement>(null)
  const view = useRef<GraphView | undefined>(undefined)
  const layout = useRef<LayoutClient | undefined>(undefined)
  const select = useRef(onSelect)
  select.current = onSelect
  const [isResting, setResting] = useState(false)
  const [isBroken, setBroken] = useState(false)
  const scale = useMemo(() => scaleOf(shape), [shape])
  const hasNear = useMemo(() => shape.edges.some(({ near }) => near), [shape])
  const scene = useMemo(
    (): Scene => ({ shape, coloring, theme, scale, storage, self, selected }),
    [shape, coloring, theme, scale, storage, self, selected],
  )
  useEffect(() => {
    const context = canvas.current?.getContext('2d')
    if (!canvas.current || !context) return
    const graph = new GraphView(canvas.current, context, (nodeId) => select.current(nodeId))
    const client = new LayoutClient(
      (positions, resting) => {
        graph.move(positions)
        setResting(resting)
      },
      () => setBroken(true),
    )
    view.current = graph
    layout.current = client
    return () => {
      client.stop()
      graph.stop()
    }
  }, [])
  useEffect(() => {
    view.current?.show(scene)
    const { clientWidth = 1, clientHeight = 1 } = canvas.current ?? {}
    if (layout.current?.show(scene.shape, clientHeight > clientWidth)) setResting(false)
  }, [scene])
  const onKeyDown = (event: KeyboardEvent) => {
    const graph = view.current
    const action = keyAction(event)
    if (action === undefined) return
    event.preventDefault()
    if (action === 'open') {
      if (selected !== undefined) onOpen(selected)
    } else if (action === 'deselect') onSelect(undefined)
    else if (action === 'larger') graph?.zoomBy(1.4)
    else if (action === 'smaller') graph?.zoomBy(1 / 1.4)
    else if (action === 'fit') graph?.fit()
    else onSelect(graph?.towards(action))
  }
  return (
    <div class="graph" data-resting={isResting}>
      <canvas
        ref={canvas}
        tabIndex={0}
        role="application"
        aria-label={`Picture of the overlay: ${plural(shape.ids.length, 'node')}, ${plural(shape.edges.length, 'edge')}`}
        aria-describedby="graph-help"
        onKeyDown={onKeyDown}
      />
      <p id="graph-help" class="visually-hidden">
        Arrow keys go from node to node, Enter opens the selected one, Escape lets it go, plus and minus zoom,
        0 shows everything. The table view lists the same nodes and edges as text.
      </p>
      <p class="visually-hidden" aria-live="polite">
        {selected === undefined ? '' : describeNode(shape, selected)}
      </p>
      {isBroken && (
        <p role="alert" class="notice">
          The picture cannot be drawn. Reload this page; the table shows the same.
        </p>
      )}
      <div class="zoom" role="group" aria-label="Zoom">
        <button type="button" aria-label="Zoom in" onClick={() => view.current?.zoomBy(1.4)}>
          +
        </button>
        <button type="button" aria-label="Zoom out" onClick={() => view.current?.zoomBy(1 / 1.4)}>
          −
        </button>
        <button type="button" aria-label="Show everything" onClick={() => view.current?.fit()}>
          <svg viewBox="0 0 16 16" width="14" height="14" aria-hidden="true">
            <path
              d="M2 6V2h4M10 2h4v4M14 10v4h-4M6 14H2v-4"
              fill="none"
              stroke="currentColor"
              stroke-width="1.6"
            />
          </svg>
        </button>
      </div>
      <Legend
        {...{ hasNear, coloring, theme, scale, self, edges: shape.edges }}
        hasStorage={storage.size > 0}
      />
    </div>
  )
}

/** `Node 0x12…ab, 4 neighbours: 0x34…cd 12 ms, …` */
function describeNode({ indexOf, edges }: GraphShape, nodeId: string): string {
  const index = indexOf.get(nodeId)
  const own = edges.filter(({ from, to }) => from === index || to === index)
  const ends = own.map(({ a, b, rttMs }) => `${shortId(a === nodeId ? b : a)} ${formatMs(rttMs)}`)
  return `Node ${shortId(nodeId)}, ${plural(own.length, 'neighbour')}: ${ends.join(', ')}`
}
