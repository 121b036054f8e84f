import type { NodeId, StreamPartId } from '@runnel/protocol'
import type { OverlayPolicy, StreamPart } from '../core/stream-part.ts'
import type { TrackerCore } from '../core/tracker-core.ts'

/** Storage nodes shown with each stream part. */
const maxStorageNodesShown = 16

/** Which part of a list is asked for. */
export interface Page {
  readonly offset: number
  readonly limit: number
}

export interface EdgeView {
  /** The lower id of the two. */
  readonly a: NodeId
  readonly b: NodeId
  /** The mean of what the two measured, or what one did; null before the first measurement. */
  readonly rttMs: number | null
}

export interface TopologyView {
  readonly streamPartId: StreamPartId
  readonly overlay: OverlayPolicy
  /** Nodes in the stream part. */
  readonly nodeCount: number
  readonly edgeCount: number
  readonly offset: number
  readonly nodes: readonly NodeId[]
  /** The edges whose lower end is among `nodes`: all pages together have every edge once. */
  readonly edges: readonly EdgeView[]
}

/** One page of a stream part's overlay. */
export function topologyView(part: StreamPart, page: Page): TopologyView {
  const nodes = slice(part.members.keys(), page)
  const edges = nodes.flatMap((a) =>
    [...part.topology.neighbours(a)]
      .filter((b) => a < b)
      .map((b) => ({ a, b, rttMs: part.reportedRttMs(a, b) })),
  )
  const { size: nodeCount, topology } = part
  return {
    streamPartId: part.id,
    overlay: part.overlay,
    nodeCount,
    edgeCount: topology.edgeCount,
    offset: page.offset,
    nodes,
    edges,
  }
}

/** One page of the stream parts, with their sizes and who stores them: all, or the first few. */
export function streamPartsView(core: TrackerCore, page: Page) {
  const streamParts = slice(core.streamParts.values(), page).map((part) => ({
    streamPartId: part.id,
    overlay: part.overlay,
    nodeCount: part.size,
    edgeCount: part.topology.edgeCount,
    storageNodeCount: core.storage.count(part.id),
    storageNodes: slice(core.storage.nodes(part.id), { offset: 0, limit: maxStorageNodesShown }),
  }))
  return { total: core.streamParts.size, offset: page.offset, streamParts }
}

/** One page of the nodes, with the stream parts they are in. */
export function nodesView(core: TrackerCore, page: Page) {
  const nodes = slice(core.nodes.values(), page).map(({ nodeId, connected, parts }) => ({
    nodeId,
    connected,
    streamParts: [...parts].map(({ id }) => id),
  }))
  return { total: core.nodes.size, offset: page.offset, nodes }
}

function slice<T>(values: Iterable<T>, { offset, limit }: Page): T[] {
  const items: T[] = []
  let position = 0
  for (const value of values) {
    if (position >= offset + limit) break
    if (position++ >= offset) items.push(value)
  }
  return items
}
