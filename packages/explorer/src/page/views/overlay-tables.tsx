import { useState } from 'preact/hooks'
import type { Edge } from '../api/answers.ts'
import type { Overlay } from '../api/trackers.ts'
import { formatCount, formatMs } from '../format.ts'
import { NodeLink } from '../parts/ids.tsx'
import { Table, type Column } from '../parts/table.tsx'
import { nameOfTransport } from '../transports.ts'

const pageRows = 100

interface NodeRow {
  readonly nodeId: string
  readonly edges: readonly Edge[]
}

/** All that the picture of an overlay shows, as text. */
export function OverlayTables({ overlay }: { readonly overlay: Overlay }) {
  return (
    <div class="tables">
      <h2>Nodes</h2>
      <Paged
        rows={nodeRows(overlay)}
        caption="Nodes of the overlay"
        columns={nodeColumns}
        rowKey={({ nodeId }) => nodeId}
      />
      <h2>Edges</h2>
      <Paged
        rows={overlay.edges.toSorted((a, b) => (b.rttMs ?? 0) - (a.rttMs ?? 0))}
        caption="Edges of the overlay, slowest first"
        columns={edgeColumns}
        rowKey={({ a, b }) => a + b}
      />
    </div>
  )
}

const nodeColumns: Column<NodeRow>[] = [
  { title: 'Node', cell: ({ nodeId }) => <NodeLink nodeId={nodeId} /> },
  {
    title: 'Neighbours',
    cell: ({ nodeId, edges }) => (
      <span class="links">
        {edges.map(({ a, b }) => (
          <NodeLink key={a + b} nodeId={a === nodeId ? b : a} />
        ))}
      </span>
    ),
  },
  { title: 'Mean RTT', isNumber: true, cell: ({ edges }) => formatMs(meanRtt(edges)) },
]

const edgeColumns: Column<Edge>[] = [
  {
    title: 'Ends',
    cell: ({ a, b }) => (
      <span class="links">
        <NodeLink nodeId={a} />
        <NodeLink nodeId={b} />
      </span>
    ),
  },
  { title: 'RTT', isNumber: true, cell: ({ rttMs }) => formatMs(rttMs) },
  { title: 'Transport', cell: nameOfTransport },
  { title: 'Chosen', isMinor: true, cell: ({ near }) => (near ? 'for nearness' : 'at random') },
]

function nodeRows({ nodes, edges }: Overlay): NodeRow[] {
  const own = new Map(nodes.map((nodeId) => [nodeId, [] as Edge[]]))
  for (const edge of edges) for (const end of [edge.a, edge.b]) own.get(end)?.push(edge)
  return nodes.map((nodeId) => ({ nodeId, edges: own.get(nodeId) ?? [] }))
}

function meanRtt(edges: readonly Edge[]): number {
  const known = edges.flatMap(({ rttMs }) => rttMs ?? [])
  return known.reduce((sum, ms) => sum + ms, 0) / known.length
}

interface PagedProps<Row> {
  readonly caption: string
  readonly columns: readonly Column<Row>[]
  readonly rows: readonly Row[]
  readonly rowKey: (row: Row) => string
}

function Paged<Row>({ rows, caption, ...table }: PagedProps<Row>) {
  const [shown, setShown] = useState(pageRows)
  return (
    <>
      <Table {...table} caption={caption} rows={rows.slice(0, shown)} empty="None." />
      {rows.length > shown && (
        <button type="button" class="more" onClick={() => setShown(shown + pageRows)}>
          Show more ({formatCount(rows.length - shown)} left)
        </button>
      )}
    </>
  )
}
