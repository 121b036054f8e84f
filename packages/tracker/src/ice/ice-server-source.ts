import { createHmac } from 'node:crypto'
import type { IceServer, IceServers, NodeId } from '@runnel/protocol'
import { checkIceOptions, defaultTurnTtlS, type IceOptions } from './ice-options.ts'

/** Makes each node's STUN and TURN servers. The TURN secret stays in the closure, so printing the source cannot reveal it. */
export interface IceServerSource {
  /** Milliseconds after which a node needs new ones; undefined when they never expire. */
  readonly renewAfterMs: number | undefined
  /** `wallMs` in Unix milliseconds. */
  serversFor(nodeId: NodeId, wallMs: number): IceServers
}

/** Credentials are renewed when this part of their lifetime has passed. */
const renewAtShare = 0.75

/** Throws INVALID_TRACKER_OPTIONS. */
export function createIceServerSource(options: IceOptions): IceServerSource {
  checkIceOptions(options)
  const { servers = [], turn } = options
  const fixed = servers.map((server) =>
    typeof server === 'string' ? { url: server, username: '', credential: '' } : server,
  )
  const ttlS = turn === undefined ? 0 : (turn.ttlS ?? defaultTurnTtlS)
  return {
    renewAfterMs: turn === undefined ? undefined : ttlS * 1000 * renewAtShare,
    serversFor(nodeId, wallMs) {
      const expiresAtS = Math.floor(wallMs / 1000) + ttlS
      const relays = turn === undefined ? [] : turnServers(turn.urls, turn.secret, `${expiresAtS}:${nodeId}`)
      return { type: 'iceServers', servers: [...fixed, ...relays], ttlS }
    },
  }
}

/** draft-uberti-behave-turn-rest-00, section 2.2: the credential is base64(HMAC-SHA-1(secret, username)). */
function turnServers(urls: readonly string[], secret: string, username: string): IceServer[] {
  const credential = createHmac('sha1', secret).update(username).digest('base64')
  return urls.map((url) => ({ url, username, credential }))
}
