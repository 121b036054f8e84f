import { limits as wireLimits, parseStreamPartId, type StreamId, type StreamPartId } from '@runnel/protocol'
import type { OverlayPolicy } from './core/stream-part.ts'
import { trackerError } from './errors.ts'
import type { IceOptions } from './ice/ice-options.ts'
import { defaultTrackerLimits, type TrackerLimits } from './limits.ts'

/** Where and how a tracker works. Everything has a default. */
export interface TrackerOptions {
  readonly listen?: {
    /** Address to bind; default 127.0.0.1. */
    readonly host?: string
    /** One port for nodes (WebSocket) and the HTTP API; 0 takes any free one; default 30300. */
    readonly port?: number
    /** What nodes dial, where that is not the address bound; `wss:` behind a proxy that does TLS. */
    readonly publicUrl?: string
    /** Certificate chain and private key, PEM. With it both WebSocket and HTTP are TLS only. */
    readonly tls?: { readonly cert: string; readonly key: string }
  }
  /** Neighbours per node, 2 to 64; default 4. */
  readonly degree?: number
  /** What overlays are made of: random edges only, or near ones besides; default `random`. */
  readonly overlay?: OverlayPolicy
  /** And for some streams, by their ids. */
  readonly streamOverlays?: Readonly<Record<StreamId, OverlayPolicy>>
  /** What nodes are taken to need for checking a message and passing it on, in milliseconds, in predictions of delays; default 0.3. */
  readonly processingMs?: number
  /** STUN and TURN servers for the nodes; default none. */
  readonly ice?: IceOptions
  /** In place of some of the default limits. */
  readonly limits?: Partial<TrackerLimits>
}

export const defaultTrackerOptions = {
  host: '127.0.0.1',
  port: 30_300,
  degree: 4,
  overlay: 'random',
  processingMs: 0.3,
} as const

/** The limits with the defaults filled in. Throws INVALID_TRACKER_OPTIONS. */
export function resolveLimits(given: Partial<TrackerLimits> = {}): TrackerLimits {
  for (const [name, value] of Object.entries(given)) {
    if (!(name in defaultTrackerLimits))
      throw trackerError('INVALID_TRACKER_OPTIONS', `limits.${name} is unknown`)
    if (Number.isFinite(value) && value >= 0) continue
    throw trackerError('INVALID_TRACKER_OPTIONS', `limits.${name} must be 0 or more: ${value}`)
  }
  return { ...defaultTrackerLimits, ...given }
}

/** Throws INVALID_TRACKER_OPTIONS. */
export function checkDegree(degree: number): number {
  if (Number.isSafeInteger(degree) && degree >= 2 && degree <= wireLimits.maxNeighbours) return degree
  throw trackerError('INVALID_TRACKER_OPTIONS', `degree must be 2 to ${wireLimits.maxNeighbours}: ${degree}`)
}

/** Throws INVALID_TRACKER_OPTIONS. */
export function checkProcessingMs(processingMs: number): number {
  if (Number.isFinite(processingMs) && processingMs >= 0) return processingMs
  throw trackerError('INVALID_TRACKER_OPTIONS', `processingMs must be 0 or more: ${processingMs}`)
}

/** Which overlay each stream part gets. Throws INVALID_TRACKER_OPTIONS. */
export function resolveOverlays({
  overlay = defaultTrackerOptions.overlay,
  streamOverlays = {},
}: Pick<TrackerOptions, 'overlay' | 'streamOverlays'>): (id: StreamPartId) => OverlayPolicy {
  const byStream = new Map<string, OverlayPolicy>(Object.entries(streamOverlays))
  for (const policy of [overlay, ...byStream.values()]) {
    if (policy === 'random' || policy === 'topology-aware') continue
    throw trackerError(
      'INVALID_TRACKER_OPTIONS',
      `overlay must be random or topology-aware: ${String(policy)}`,
    )
  }
  return (id) => byStream.get(parseStreamPartId(id).streamId) ?? overlay
}
