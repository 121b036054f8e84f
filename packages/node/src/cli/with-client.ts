import { createClient, type RunnelClient } from '@runnel/client'
import { requireKey, resolveKey } from '../keys/resolve-key.ts'
import type { NetworkArguments } from './common-options.ts'
import { readNetwork } from './network-source.ts'
import { watchTrackers, type TrackerWatch } from './tracker-watch.ts'

export interface WithClientOptions {
  /** Refuse to start without a key, rather than make one up. */
  readonly needsKey?: boolean
}

/** Runs a command with a client that lives as long as it: one that reaches out, but listens nowhere. Its user is the key's. */
export async function withClient<T>(
  { network, key }: NetworkArguments,
  { needsKey = false }: WithClientOptions,
  work: (client: RunnelClient, trackers: TrackerWatch) => Promise<T>,
): Promise<T> {
  const sources = { key, env: process.env }
  const privateKey = needsKey ? requireKey(sources) : resolveKey(sources)
  const client = await createClient({
    privateKey,
    network: readNetwork(network),
    transports: { websocket: {}, webrtc: {} },
  })
  const trackers = watchTrackers(client)
  try {
    return await work(client, trackers)
  } finally {
    trackers.stop()
    await client.close()
  }
}
