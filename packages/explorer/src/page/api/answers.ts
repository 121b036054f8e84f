import type { OverlayStrategyName } from '@runnel/protocol'
import {
  count,
  flag,
  list,
  matching,
  nullable,
  numberFrom,
  object,
  oneOf,
  record,
  text,
  withDefault,
  type Decode,
} from './decode.ts'

/** What trackers answer, as far as the explorer shows it (packages/tracker/src/http/views.ts). */

const nodeId = matching(/^0x[0-9a-f]{40}$/)
const partId = matching(/^0x[0-9a-f]{40}\/[A-Za-z0-9._/-]{1,200}#(?:[0-9]{1,2}|100)$/)
// Only types of the protocol are loaded before the page takes part in a network.
const overlayNames = { random: true, 'topology-aware': true, tree: true } as const satisfies Record<
  OverlayStrategyName,
  true
>
const overlay = withDefault(oneOf(...(Object.keys(overlayNames) as OverlayStrategyName[])), 'random')
/** As long as a member says that it is, which may say anything: one must not hide all others. */
const ms = numberFrom(0, Number.MAX_SAFE_INTEGER)

export interface Place {
  readonly latitude: number
  readonly longitude: number
  readonly name: string
}

const places = withDefault(
  record(
    nodeId,
    object<Place>({ latitude: numberFrom(-90, 90), longitude: numberFrom(-180, 180), name: text(64) }),
    1_000,
  ),
  new Map<string, Place>(),
)

export interface Health {
  readonly nodeId: string
  readonly nodes: number
  readonly streamParts: number
}
export const health: Decode<Health> = object<Health>({ nodeId, nodes: count, streamParts: count })

export interface PartSummary {
  readonly streamPartId: string
  readonly overlay: OverlayStrategyName
  readonly nodeCount: number
  readonly edgeCount: number
  readonly storageNodeCount: number
  readonly storageNodes: readonly string[]
}
export interface PartList {
  readonly total: number
  /** The offset of the next page; null on the last. */
  readonly next: number | null
  readonly streamParts: readonly PartSummary[]
}
export const partList: Decode<PartList> = object<PartList>({
  total: count,
  next: withDefault(nullable(count), null),
  streamParts: list(
    object<PartSummary>({
      streamPartId: partId,
      overlay,
      nodeCount: count,
      edgeCount: count,
      storageNodeCount: withDefault(count, 0),
      storageNodes: withDefault(list(nodeId, 64), []),
    }),
    1_000,
  ),
})

export interface NodeSummary {
  readonly nodeId: string
  readonly connected: boolean
  /** `streamParts` may hold only the first of them. */
  readonly streamPartCount: number
  readonly streamParts: readonly string[]
  /** What it says that it is, and that its software is; null where it has not. Nobody has checked it. */
  readonly role: string | null
  readonly version: string | null
  readonly name: string | null
}
export interface NodeList {
  readonly total: number
  readonly next: number | null
  readonly nodes: readonly NodeSummary[]
}
export const nodeList: Decode<NodeList> = object<NodeList>({
  total: count,
  next: withDefault(nullable(count), null),
  nodes: list(
    object<NodeSummary>({
      nodeId,
      connected: flag,
      streamPartCount: withDefault(count, 0),
      streamParts: list(partId, 10_000),
      role: withDefault(nullable(text(16)), null),
      version: withDefault(nullable(text(32)), null),
      name: withDefault(nullable(text(64)), null),
    }),
    100,
  ),
})

export interface Edge {
  readonly a: string
  readonly b: string
  readonly rttMs: number | null
  readonly near: boolean
  /** As its ends say; null where none does, or they disagree. */
  readonly transport: string | null
  /** Whether a TURN server relays it. */
  readonly relayed: boolean
}
const edgeFields = object<Omit<Edge, 'relayed'> & { readonly relayed: boolean | null }>({
  a: nodeId,
  b: nodeId,
  rttMs: nullable(ms),
  near: withDefault(flag, false),
  transport: withDefault(nullable(text(16)), null),
  relayed: withDefault<boolean | null>(flag, null),
})
/** An older tracker says by what the ends would connect first, which is something else. */
const edge: Decode<Edge> = (value) => {
  const fields = edgeFields(value)
  const { relayed } = fields
  return relayed === null ? { ...fields, transport: null, relayed: false } : { ...fields, relayed }
}
export interface TopologyPage {
  readonly streamPartId: string
  readonly overlay: OverlayStrategyName
  readonly nodeCount: number
  readonly edgeCount: number
  /** The offset of the next page; null on the last, and from an older tracker undefined. */
  readonly next: number | null | undefined
  readonly nodes: readonly string[]
  readonly edges: readonly Edge[]
  readonly places: ReadonlyMap<string, Place>
}
export const topologyPage: Decode<TopologyPage> = object<TopologyPage>({
  streamPartId: partId,
  overlay,
  nodeCount: count,
  edgeCount: count,
  next: withDefault<number | null | undefined>(nullable(count), undefined),
  nodes: list(nodeId, 1_000),
  edges: list(edge, 64_000),
  places,
})

interface Delays {
  readonly meanMs: number
  readonly p99Ms: number
  readonly edges: number
  readonly measuredEdges: number
}
export interface Propagation {
  readonly processingMs: number
  readonly delays: Delays | null
}
export const propagation: Decode<Propagation> = object<Propagation>({
  processingMs: ms,
  delays: nullable(object<Delays>({ meanMs: ms, p99Ms: ms, edges: count, measuredEdges: count })),
})

interface ClusterTracker {
  readonly nodeId: string
  readonly url: string
  readonly self: boolean
  readonly linked: boolean
  readonly error: string | null
  readonly load: { readonly nodes: number; readonly leads: number; readonly replicas: number } | null
}
export interface Cluster {
  readonly nodeId: string
  readonly state: 'unregistered' | 'alone' | 'joined' | 'failed'
  readonly leads: number
  readonly replicas: number
  readonly trackers: readonly ClusterTracker[]
  readonly places: ReadonlyMap<string, Place>
}
export const cluster: Decode<Cluster> = object<Cluster>({
  nodeId,
  state: oneOf('unregistered', 'alone', 'joined', 'failed'),
  leads: count,
  replicas: count,
  trackers: list(
    object<ClusterTracker>({
      nodeId,
      url: text(512),
      self: flag,
      linked: flag,
      error: nullable(text(4_096)),
      load: nullable(object({ nodes: count, leads: count, replicas: count })),
    }),
    1_000,
  ),
  places,
})
