import {
  isDegree,
  isOverlayStrategy,
  limits as wireLimits,
  minDegree,
  overlayStrategies,
  parseStreamPartId,
  type OverlayStrategyName,
  type StreamId,
  type StreamPartId,
} from '@runnel/protocol'
import { defaultClusterLimits, type ClusterLimits } from './cluster/limits.ts'
import { trackerError } from './errors.ts'
import type { Places } from './http/places.ts'
import type { IceOptions } from './ice/ice-options.ts'
import { defaultTrackerLimits, type TrackerLimits } from './limits.ts'

/** Settings of a tracker. Everything has a default. */
export interface TrackerOptions {
  readonly listen?: {
    /** Address to bind; default 127.0.0.1. */
    readonly host?: string
    /** One port for nodes (WebSocket) and the HTTP API; 0 takes any free one; default 30300. */
    readonly port?: number
    /** The URL that nodes dial, if it is not the address bound; `wss:` behind a proxy that does TLS. */
    readonly publicUrl?: string
    /** Further URLs by which nodes dial it where `publicUrl` is set; a node that dialled any other is refused. */
    readonly alsoKnownAs?: readonly string[]
    /** Certificate chain and private key, PEM. With it both WebSocket and HTTP are TLS only. */
    readonly tls?: { readonly cert: string; readonly key: string }
  }
  /** Neighbours per node, 2 to 64; default 4. */
  readonly degree?: number
  /** The strategy of overlays; default `topology-aware`. */
  readonly overlay?: OverlayStrategyName
  /** Overrides for some streams, by id, regardless of their owners' choice. */
  readonly streamOverlays?: Readonly<Record<StreamId, OverlayStrategyName>>
  /**
   * Time a node is assumed to take to check a message and forward it, in milliseconds, in predictions of delays; default
   * 0.3.
   */
  readonly processingMs?: number
  /** STUN and TURN servers for the nodes; default none. */
  readonly ice?: IceOptions
  /** Overrides of the default limits. */
  readonly limits?: Partial<TrackerLimits>
  /** Its part in the cluster of its network's trackers; default: none. */
  readonly cluster?: ClusterJoin
  /** The page served under `/explorer/`; default: none. */
  readonly explorer?: ExplorerOptions
  /** Where nodes and trackers are, for the map of the explorer; default: unknown. */
  readonly places?: Places
}

export interface ExplorerOptions {
  /** The files of the page, including `index.html`. */
  readonly directory: string
  /** The network, as `createClient` takes it, published so that a page can take part in it; default: not published. */
  readonly network?: unknown
}

/** Settings of a tracker's part in the cluster. */
export interface ClusterJoin {
  /** The key of the tracker's identity, 32 bytes, which is also the key of its links to other trackers. */
  readonly privateKey: Uint8Array
  /** Address to bind; default that of `listen`. */
  readonly host?: string
  /** Default any free one. */
  readonly port?: number
  /** Multiaddresses that others dial, where they differ from those bound; at most 8. */
  readonly announce?: readonly string[]
  readonly limits?: Partial<ClusterLimits>
}

export const defaultTrackerOptions = {
  host: '127.0.0.1',
  port: 30_300,
  degree: 4,
  overlay: 'topology-aware',
  processingMs: 0.3,
} as const

/** The limits completed with the defaults. Throws INVALID_TRACKER_OPTIONS. */
export function resolveLimits(given: Partial<TrackerLimits> = {}): TrackerLimits {
  return checkedLimits('limits', given, defaultTrackerLimits)
}

/** Like `resolveLimits`, for the cluster. Throws INVALID_TRACKER_OPTIONS. */
export function resolveClusterLimits(given: Partial<ClusterLimits> = {}): ClusterLimits {
  return checkedLimits('cluster.limits', given, defaultClusterLimits)
}

function checkedLimits<Limits extends object>(
  where: string,
  given: Partial<Limits>,
  defaults: Limits,
): Limits {
  for (const [name, value] of Object.entries(given)) {
    if (!(name in defaults)) throw trackerError('INVALID_TRACKER_OPTIONS', `${where}.${name} is unknown`)
    if (typeof value === 'number' && Number.isFinite(value) && value >= 0) continue
    throw trackerError('INVALID_TRACKER_OPTIONS', `${where}.${name} must be 0 or more: ${String(value)}`)
  }
  return { ...defaults, ...given }
}

/** Throws INVALID_TRACKER_OPTIONS. */
export function checkDegree(degree: number): number {
  if (isDegree(degree)) return degree
  throw trackerError(
    'INVALID_TRACKER_OPTIONS',
    `degree must be ${minDegree} to ${wireLimits.maxNeighbours}: ${degree}`,
  )
}

/** Throws INVALID_TRACKER_OPTIONS. */
export function checkProcessingMs(processingMs: number): number {
  if (Number.isFinite(processingMs) && processingMs >= 0) return processingMs
  throw trackerError('INVALID_TRACKER_OPTIONS', `processingMs must be 0 or more: ${processingMs}`)
}

/** The strategy of each stream part. Throws INVALID_TRACKER_OPTIONS. */
export function resolveOverlays({
  overlay = defaultTrackerOptions.overlay,
  streamOverlays = {},
}: Pick<TrackerOptions, 'overlay' | 'streamOverlays'>): (id: StreamPartId) => OverlayStrategyName {
  const byStream = new Map<string, OverlayStrategyName>(Object.entries(streamOverlays))
  for (const policy of [overlay, ...byStream.values()]) {
    if (isOverlayStrategy(policy)) continue
    throw trackerError(
      'INVALID_TRACKER_OPTIONS',
      `overlay must be one of ${overlayStrategies.join(', ')}: ${String(policy)}`,
    )
  }
  return (id) => byStream.get(parseStreamPartId(id).streamId) ?? overlay
}
