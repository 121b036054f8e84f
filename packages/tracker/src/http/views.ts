import type { NodeId, OverlayStrategyName, StreamPartId } from '@runnel/protocol'
import type { StreamPart } from '../core/stream-part.ts'
import type { TrackerCore } from '../core/tracker-core.ts'
import { listingLimits, Listing } from './listing.ts'
import { placesOf, type Places } from './places.ts'

/** Storage nodes shown with each stream part. */
const maxStorageNodesShown = 16
/** Stream parts shown with each node. */
const maxStreamPartsShown = 16

/** The requested part of a list. */
export interface Page {
  readonly offset: number
  readonly limit: number
}

export interface StreamPartsQuery extends Page {
  /** Only ids that contain this text. */
  readonly contains?: string
}

export interface NodesQuery extends Page {
  /** Only ids that begin with this text. */
  readonly prefix?: string
}

export interface EdgeView {
  /** The lower id of the two. */
  readonly a: NodeId
  readonly b: NodeId
  /** The mean of the two ends' measurements, or the only one; null before the first. */
  readonly rttMs: number | null
  /** Chosen because its ends are near each other; otherwise drawn at random. */
  readonly near: boolean
  /** The kind of transport, as the two ends say; null where neither does, or they disagree. */
  readonly transport: string | null
  /** Whether a TURN server relays it, as far as an end knows. */
  readonly relayed: boolean
}

export interface TopologyView {
  readonly streamPartId: StreamPartId
  readonly overlay: OverlayStrategyName
  /** Nodes in the stream part. */
  readonly nodeCount: number
  readonly edgeCount: number
  readonly offset: number
  /** The offset of the next page; null on the last. */
  readonly next: number | null
  readonly nodes: readonly NodeId[]
  /** The edges whose lower end is among `nodes`: all pages together have every edge once. */
  readonly edges: readonly EdgeView[]
  /** The known places of this page's nodes. */
  readonly places: Places
}

/** One page of a stream part's overlay. */
export function topologyView(part: StreamPart, page: Page, places: Places = {}): TopologyView {
  const nodes: NodeId[] = []
  const edges: EdgeView[] = []
  let bytes = 0
  const maxBytes = page.limit === Infinity ? Infinity : listingLimits.maxAnswerBytes
  for (const a of slice(part.members.keys(), page)) {
    if (bytes >= maxBytes) break
    const added = edgesFrom(part, a)
    nodes.push(a)
    edges.push(...added)
    bytes += a.length + edgeBytes * added.length
  }
  const { size: nodeCount, topology } = part
  const end = page.offset + nodes.length
  return {
    streamPartId: part.id,
    overlay: part.kind.strategy,
    nodeCount,
    edgeCount: topology.edgeCount,
    offset: page.offset,
    next: nodes.length > 0 && end < nodeCount ? end : null,
    nodes,
    edges,
    places: placesOf(places, nodes),
  }
}

/** Approximate bytes of an edge in an answer. */
const edgeBytes = 190

function edgesFrom(part: StreamPart, a: NodeId): EdgeView[] {
  return [...part.topology.neighbours(a)]
    .filter((b) => a < b)
    .map((b) => {
      const { kind: transport = null, relayed = false } = part.reportedTransport(a, b) ?? {}
      return { a, b, rttMs: part.reportedRttMs(a, b), near: part.topology.isNear(a, b), transport, relayed }
    })
}

/** The lists of a tracker, page by page. */
export class Views {
  readonly #core: TrackerCore
  readonly #parts: Listing<StreamPartId>
  readonly #nodes: Listing<NodeId>

  constructor(core: TrackerCore) {
    this.#core = core
    this.#parts = new Listing(core.streamParts)
    this.#nodes = new Listing(core.nodes)
  }

  /** Stream parts, with their sizes and who stores them: all, or the first few. */
  streamParts({ contains = '', offset, limit }: StreamPartsQuery, nowMs: number) {
    const show = (id: StreamPartId) => this.#showPart(id)
    const matches = contains === '' ? undefined : (id: StreamPartId) => id.includes(contains)
    const request = { offset, limit, matches, show, exactly: contains as StreamPartId }
    const { items: streamParts, ...rest } = this.#parts.page(request, nowMs)
    return { offset, ...rest, streamParts }
  }

  /** Nodes, with the stream parts they are in: all, or the first few. */
  nodes({ prefix = '', offset, limit }: NodesQuery, nowMs: number) {
    const show = (id: NodeId) => this.#showNode(id)
    const matches = prefix === '' ? undefined : (id: NodeId) => id.startsWith(prefix)
    const { items: nodes, ...rest } = this.#nodes.page(
      { offset, limit, matches, show, exactly: prefix as NodeId },
      nowMs,
    )
    return { offset, ...rest, nodes }
  }

  #showPart(id: StreamPartId) {
    const { streamParts, storage } = this.#core
    const part = streamParts.get(id)
    return (
      part && {
        streamPartId: part.id,
        overlay: part.kind.strategy,
        nodeCount: part.size,
        edgeCount: part.topology.edgeCount,
        storageNodeCount: storage.count(id),
        storageNodes: slice(storage.nodes(id), { offset: 0, limit: maxStorageNodesShown }),
      }
    )
  }

  #showNode(nodeId: NodeId) {
    const node = this.#core.nodes.get(nodeId)
    return (
      node && {
        nodeId,
        connected: node.connected,
        // What it says of itself: nobody has checked it.
        role: node.about?.role ?? null,
        version: node.about?.version || null,
        name: node.about?.name || null,
        streamPartCount: node.parts.size,
        streamParts: slice(node.parts, { offset: 0, limit: maxStreamPartsShown }).map(({ id }) => id),
      }
    )
  }
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
