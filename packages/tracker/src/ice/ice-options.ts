import { limits, type IceServer } from '@runnel/protocol'
import { trackerError } from '../errors.ts'

/** What nodes are told about STUN and TURN, and who carries circuits. */
export interface IceOptions {
  /**
   * Handed out unchanged: `stun:host:port`, servers with public credentials, and nodes that carry circuits, `wss://host:port`,
   * in addition to those that offer it.
   */
  readonly servers?: readonly (string | IceServer)[]
  /** TURN servers that share the secret, such as coturn with `use-auth-secret`. */
  readonly turn?: {
    /** `turn:host:port?transport=udp`, `turns:host:port` … */
    readonly urls: readonly string[]
    /** Never leaves the process. */
    readonly secret: string
    /** How long credentials are valid, in seconds; default one day, at least 60. */
    readonly ttlS?: number
  }
}

/** Lifetime of TURN credentials, unless the options say otherwise. */
export const defaultTurnTtlS = 86_400
/** Shortest lifetime that may be set. */
const minTurnTtlS = 60
const urlPattern = /^(stuns?:|turns?:|wss?:\/\/)[\x21-\x7e]+$/

/** Throws INVALID_TRACKER_OPTIONS; never with a secret in the message. */
export function checkIceOptions({ servers = [], turn }: IceOptions): void {
  const urls = [
    ...servers.map((server) => (typeof server === 'string' ? server : server.url)),
    ...(turn?.urls ?? []),
  ]
  for (const url of urls) {
    if (urlPattern.test(url) && url.length <= limits.maxUrlBytes) continue
    throw trackerError(
      'INVALID_TRACKER_OPTIONS',
      `ice: ${JSON.stringify(url.slice(0, 100))} is no URL of a STUN or TURN server or of a node that carries circuits`,
    )
  }
  if (urls.length > limits.maxIceServers)
    throw trackerError('INVALID_TRACKER_OPTIONS', `ice: more than ${limits.maxIceServers} servers`)
  if (turn === undefined) return
  if (turn.secret === '') throw trackerError('INVALID_TRACKER_OPTIONS', 'ice.turn.secret is empty')
  const { ttlS = defaultTurnTtlS } = turn
  if (!Number.isSafeInteger(ttlS) || ttlS < minTurnTtlS)
    throw trackerError('INVALID_TRACKER_OPTIONS', `ice.turn.ttlS is below ${minTurnTtlS}: ${ttlS}`)
}
