import type { OverlayStrategyName } from '@runnel/protocol'
import {
  cluster,
  health,
  nodeList,
  partList,
  propagation,
  topologyPage,
  type Cluster,
  type Edge,
  type Health,
  type NodeSummary,
  type PartSummary,
  type Place,
  type Propagation,
  type TopologyPage,
} from './answers.ts'
import { Failure } from './failure.ts'
import { fetchJson } from './fetch-json.ts'

/** Trackers of the cluster that are asked. */
export const maxTrackersAsked = 16
/** Nodes of one overlay that are shown. */
const maxNodesShown = 5_000
const pageItems = 1_000
const pageNodes = 100
/** Pages of one list, or one overlay, that are read: a tracker gives as much at a time as it likes. */
const maxPages = 16

/** A tracker of the network: it answers, or there is a reason why not. */
export interface TrackerState {
  /** Empty until it has answered, where no other one names it. */
  readonly nodeId: string
  /** Of its HTTP API. */
  readonly base: string
  readonly isHome: boolean
  readonly health: Health | undefined
  readonly cluster: Cluster | undefined
  readonly failure: Failure | undefined
  /** As the tracker that served this page sees it. */
  readonly seen: Cluster['trackers'][number] | undefined
  readonly place: Place | undefined
}

/** An overlay, assembled from all its pages. */
export interface Overlay {
  readonly partId: string
  /** The HTTP API of the tracker that leads it. */
  readonly base: string
  readonly policy: OverlayStrategyName
  /** Of the whole overlay; `nodes` may be fewer. */
  readonly nodeCount: number
  readonly edgeCount: number
  readonly nodes: readonly string[]
  readonly edges: readonly Edge[]
  readonly places: ReadonlyMap<string, Place>
}

/** A stream part, and the tracker that builds its overlay. */
export interface LedPart extends PartSummary {
  readonly base: string
}

export interface Found<T> {
  readonly total: number
  readonly items: readonly T[]
  /** Those that answered had no more than `items`. */
  readonly isWhole: boolean
  /** Trackers that did not answer: what they know is missing. */
  readonly failures: readonly Failure[]
}

/** Where a tracker's HTTP API is, by what nodes dial; undefined for what is no address. */
export function httpBase(url: string): string | undefined {
  if (!URL.canParse(url)) return undefined
  const { protocol, host } = new URL(url)
  if (protocol === 'wss:' || protocol === 'https:') return `https://${host}`
  return protocol === 'ws:' || protocol === 'http:' ? `http://${host}` : undefined
}

/** All trackers of the network of the one at `home`, as each says it is doing. Rejects when `home` does not answer. */
export async function readTrackers(home: string, signal: AbortSignal): Promise<TrackerState[]> {
  const [ownHealth, own] = await Promise.all([
    fetchJson(`${home}/health`, health, signal),
    readCluster(home, signal),
  ])
  const self = {
    ...{ nodeId: ownHealth.nodeId, base: home, isHome: true, health: ownHealth, cluster: own },
    failure: undefined,
    seen: own?.trackers.find((tracker) => tracker.self),
    place: own?.places.get(ownHealth.nodeId),
  }
  const others = (own?.trackers ?? []).filter((tracker) => !tracker.self).slice(0, maxTrackersAsked - 1)
  const states = others.map(async (seen): Promise<TrackerState> => {
    const base = httpBase(seen.url)
    const known = {
      nodeId: seen.nodeId,
      base: base ?? seen.url,
      isHome: false,
      seen,
      place: own?.places.get(seen.nodeId),
    }
    if (base === undefined) return { ...known, ...nothing, failure: new Failure('UNREACHABLE', seen.url) }
    try {
      const [itsHealth, its] = await Promise.all([
        fetchJson(`${base}/health`, health, signal),
        readCluster(base, signal),
      ])
      return { ...known, health: itsHealth, cluster: its, failure: undefined }
    } catch (error) {
      return { ...known, ...nothing, failure: asFailure(error) }
    }
  })
  return [self, ...(await Promise.all(states))]
}

const nothing = { health: undefined, cluster: undefined }

/** Undefined when the tracker is in none. */
async function readCluster(base: string, signal: AbortSignal): Promise<Cluster | undefined> {
  try {
    return await fetchJson(`${base}/v1/cluster`, cluster, signal)
  } catch (error) {
    if (error instanceof Failure && error.code === 'NOT_FOUND') return undefined
    throw error
  }
}

/** The stream parts with `contains` in their ids, of all these trackers: the first thousand that each tracker names, sorted by size. */
export async function findParts(
  bases: readonly string[],
  contains: string,
  signal: AbortSignal,
): Promise<Found<LedPart>> {
  const query = contains === '' ? '' : `&contains=${encodeURIComponent(contains)}`
  const { answers, failures } = await askAll(bases, (base) =>
    readPages(pageItems, async (next) => {
      const url = `${base}/v1/stream-parts?limit=${pageItems}${query}${next}`
      const { streamParts, ...page } = await fetchJson(url, partList, signal)
      return { ...page, items: streamParts }
    }),
  )
  const parts = new Map<string, LedPart>()
  for (const { base, answer } of answers) {
    for (const part of answer.items) {
      const known = parts.get(part.streamPartId)
      // For a moment two trackers may have it, when one hands it to the other.
      if (known === undefined || known.nodeCount < part.nodeCount)
        parts.set(part.streamPartId, { ...part, base })
    }
  }
  const items = [...parts.values()].toSorted(
    (a, b) => b.nodeCount - a.nodeCount || (a.streamPartId < b.streamPartId ? -1 : 1),
  )
  const beyond = answers.reduce((sum, { answer }) => sum + Math.max(0, answer.total - answer.items.length), 0)
  return { total: items.length + beyond, items, isWhole: areWhole(answers), failures }
}

/** The nodes whose ids begin with `prefix`, of all these trackers, with the stream parts they are in; a hundred of each tracker at most. */
export async function findNodes(
  bases: readonly string[],
  prefix: string,
  signal: AbortSignal,
): Promise<Found<NodeSummary>> {
  const query = prefix === '' ? '' : `&prefix=${encodeURIComponent(prefix)}`
  const { answers, failures } = await askAll(bases, (base) =>
    readPages(pageNodes, async (next) => {
      const url = `${base}/v1/nodes?limit=${pageNodes}${query}${next}`
      const { nodes, ...page } = await fetchJson(url, nodeList, signal)
      return { ...page, items: nodes }
    }),
  )
  const nodes = new Map<string, NodeSummary>()
  for (const node of answers.flatMap(({ answer }) => answer.items))
    nodes.set(node.nodeId, together(nodes.get(node.nodeId), node))
  const items = [...nodes.values()].toSorted((a, b) => (a.nodeId < b.nodeId ? -1 : 1))
  const beyond = Math.max(0, ...answers.map(({ answer }) => answer.total - answer.items.length))
  return { total: items.length + beyond, items, isWhole: areWhole(answers), failures }
}

/** Each tracker knows the stream parts that it leads, and lists only the first of them. */
function together(one: NodeSummary | undefined, other: NodeSummary): NodeSummary {
  const streamParts = [...new Set([...(one?.streamParts ?? []), ...other.streamParts])]
  return {
    nodeId: other.nodeId,
    connected: other.connected || one?.connected === true,
    streamPartCount: streamParts.length + unlistedParts(one) + unlistedParts(other),
    streamParts,
    role: one?.role ?? other.role,
    version: one?.version ?? other.version,
    name: one?.name ?? other.name,
  }
}

/** An older tracker lists all, and does not say how many. */
function unlistedParts(node: NodeSummary | undefined): number {
  return node === undefined ? 0 : Math.max(0, node.streamPartCount - node.streamParts.length)
}

interface PageOf<T> {
  /** For a search: the matches on this page. */
  readonly total: number
  readonly next: number | null
  readonly items: readonly T[]
}

interface FirstItems<T> extends Pick<PageOf<T>, 'total' | 'items'> {
  /** The list has no others. */
  readonly isWhole: boolean
}

function areWhole(answers: readonly { readonly answer: FirstItems<unknown> }[]): boolean {
  return answers.every(({ answer }) => answer.isWhole)
}

/** The first items of a list: a search may have pages without any. */
async function readPages<T>(
  maxItems: number,
  read: (next: string) => Promise<PageOf<T>>,
): Promise<FirstItems<T>> {
  const items: T[] = []
  let page = await read('')
  items.push(...page.items)
  for (let pages = 1; pages < maxPages && page.next !== null && items.length < maxItems; pages++) {
    page = await read(`&offset=${page.next}`)
    items.push(...page.items)
  }
  return {
    total: Math.max(page.total, items.length),
    items: items.slice(0, maxItems),
    isWhole: page.next === null && items.length <= maxItems,
  }
}

/** A stream part and the tracker that leads it. Throws Failure when none of these does. */
export async function leaderOf(
  bases: readonly string[],
  partId: string,
  signal: AbortSignal,
): Promise<LedPart> {
  const { items, failures } = await findParts(bases, partId, signal)
  const found = items.find(({ streamPartId }) => streamPartId === partId)
  if (found !== undefined) return found
  throw failures[0] ?? new Failure('UNKNOWN_STREAM_PART', partId)
}

/** The overlay of a stream part; of a very large one the first `maxNodesShown` nodes. Throws Failure. */
export async function readOverlay(base: string, partId: string, signal: AbortSignal): Promise<Overlay> {
  const url = `${base}/v1/stream-parts/${encodeURIComponent(partId)}/topology`
  const read = (offset: number) =>
    fetchJson(`${url}?offset=${offset}&limit=${pageItems}`, topologyPage, signal)
  const first = await read(0)
  const pages = [first]
  let next = nextOf(first, 0)
  while (next !== undefined && next < maxNodesShown && pages.length < maxPages) {
    const page = await read(next)
    pages.push(page)
    next = nextOf(page, next)
  }
  const nodes = [...new Set(pages.flatMap((page) => page.nodes))]
  const known = new Set(nodes)
  // Nodes may come and go between two pages: an edge is shown when both its ends are.
  const edges = pages
    .flatMap((page) => page.edges)
    .filter(({ a, b }) => a !== b && known.has(a) && known.has(b))
  const places = new Map(pages.flatMap((page) => [...page.places]))
  const { streamPartId, overlay: policy, nodeCount, edgeCount } = first
  return { partId: streamPartId, base, policy, nodeCount, edgeCount, nodes, edges, places }
}

/** An older tracker says only how many there are. */
function nextOf({ next, nodes, nodeCount }: TopologyPage, offset: number): number | undefined {
  if (next !== undefined) return next ?? undefined
  return nodes.length === pageItems && offset + pageItems < nodeCount ? offset + pageItems : undefined
}

export function readPropagation(base: string, partId: string, signal: AbortSignal): Promise<Propagation> {
  return fetchJson(`${base}/v1/stream-parts/${encodeURIComponent(partId)}/propagation`, propagation, signal)
}

/** The answers of the trackers that answer. Rejects when none does. */
async function askAll<T>(bases: readonly string[], ask: (base: string) => Promise<T>) {
  const settled = await Promise.allSettled(bases.map(async (base) => ({ base, answer: await ask(base) })))
  const answers = settled.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
  const reasons = settled.flatMap((result): unknown[] =>
    result.status === 'rejected' ? [result.reason] : [],
  )
  if (answers.length === 0 && reasons.length > 0) throw reasons[0]
  return { answers, failures: reasons.map(asFailure) }
}

function asFailure(error: unknown): Failure {
  if (error instanceof Failure) return error
  throw error
}
