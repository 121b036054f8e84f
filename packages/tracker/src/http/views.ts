import { commonWays, type NodeId, type StreamPartId } from '@runnel/protocol'
import type { OverlayPolicy, StreamPart } from '../core/stream-part.ts'
import type { TrackerCore } from '../core/tracker-core.ts'
import { placesOf, type Places } from './places.ts'

/** Storage nodes shown with each stream part. */
const maxStorageNodesShown = 16

/** Which part of a list is asked for. */
export interface Page {
  readonly offset: number
  readonly limit: number
}

export interface StreamPartsQuery extends Page {
  /** In the ids of those asked for. */
  readonly contains?: string
}

export interface NodesQuery extends Page {
  /** What the ids of those asked for begin with. */
  readonly prefix?: string
}

export interface EdgeView {
  /** The lower id of the two. */
  readonly a: NodeId
  readonly b: NodeId
  /** The mean of what the two measured, or what one did; null before the first measurement. */
  readonly rttMs: number | null
  /** Made because its ends are near each other; else drawn at random. */
  readonly near: boolean
  /** What the two try first, by what they say of themselves; null when that is not known. */
  readonly transport: 'websocket' | 'webrtc' | null
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
  /** Where the nodes of this page are, those of which it is known. */
  readonly places: Places
}

/** One page of a stream part's overlay. */
export function topologyView(
  core: TrackerCore,
  part: StreamPart,
  page: Page,
  places: Places = {},
): TopologyView {
  const nodes = slice(part.members.keys(), page)
  const edges = nodes.flatMap((a) =>
    [...part.topology.neighbours(a)]
      .filter((b) => a < b)
      .map((b) => ({
        ...{ a, b, rttMs: part.reportedRttMs(a, b) },
        near: part.topology.isNear(a, b),
        transport: transportOf(core, a, b),
      })),
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
    places: placesOf(places, nodes),
  }
}

function transportOf(core: TrackerCore, a: NodeId, b: NodeId): EdgeView['transport'] {
  const [contactA, contactB] = [core.nodes.get(a)?.contact, core.nodes.get(b)?.contact]
  if (contactA === undefined || contactB === undefined) return null
  const { firstDials, secondDials, webrtc } = commonWays(contactA, contactB)
  if (firstDials || secondDials) return 'websocket'
  return webrtc ? 'webrtc' : null
}

/** One page of the stream parts, with their sizes and who stores them: all, or the first few. */
export function streamPartsView(core: TrackerCore, { contains = '', ...page }: StreamPartsQuery) {
  const { items, total } = found(core.streamParts.values(), page, ({ id }) => id.includes(contains))
  const streamParts = items.map((part) => ({
    streamPartId: part.id,
    overlay: part.overlay,
    nodeCount: part.size,
    edgeCount: part.topology.edgeCount,
    storageNodeCount: core.storage.count(part.id),
    storageNodes: slice(core.storage.nodes(part.id), { offset: 0, limit: maxStorageNodesShown }),
  }))
  return { total, offset: page.offset, streamParts }
}

/** One page of the nodes, with the stream parts they are in. */
export function nodesView(core: TrackerCore, { prefix = '', ...page }: NodesQuery) {
  const { items, total } = found(core.nodes.values(), page, ({ nodeId }) => nodeId.startsWith(prefix))
  const nodes = items.map(({ nodeId, connected, parts }) => ({
    nodeId,
    connected,
    streamParts: [...parts].map(({ id }) => id),
  }))
  return { total, offset: page.offset, nodes }
}

/** One page of what is looked for, and how much of it there is in all. */
function found<T>(values: Iterable<T>, page: Page, isIt: (value: T) => boolean) {
  const all = [...values].filter(isIt)
  return { items: slice(all, page), total: all.length }
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
