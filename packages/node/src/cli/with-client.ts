import { createClient, type RunnelClient } from '@runnel/client'
import { createNetworkNode } from '@runnel/network'
import { createIdentity, generatePrivateKey } from '@runnel/protocol'
import { requireKey, resolveKey } from '../keys/resolve-key.ts'
import type { NetworkArguments } from './common-options.ts'
import { readNetwork } from './network-source.ts'
import { watchTrackers, type TrackerWatch } from './tracker-watch.ts'

export interface WithClientOptions {
  /** Refuse to start without a key, rather than make one up. */
  readonly needsKey?: boolean
}

/**
 * Runs a command with a client that lives as long as it: one that reaches out, but listens nowhere. It publishes and
 * subscribes in the name of the key, through a node with an id of its own: commands of one user can run side by side,
 * where two nodes of one id would drive each other out of the network. A private network knows nodes by their keys: there
 * the node has the id of the key, which must be listed.
 */
export async function withClient<T>(
  { network, key }: NetworkArguments,
  { needsKey = false }: WithClientOptions,
  work: (client: RunnelClient, trackers: TrackerWatch) => Promise<T>,
): Promise<T> {
  const sources = { key, env: process.env }
  const privateKey = needsKey ? requireKey(sources) : resolveKey(sources)
  const client = await createClient(
    { privateKey, network: readNetwork(network), transports: { websocket: {}, webrtc: {} } },
    {
      createNode: (options, modules) => {
        const { random, crypto, admission } = modules
        if (admission.isPrivate) return createNetworkNode(options, modules)
        const identity = createIdentity(generatePrivateKey(random), crypto)
        return createNetworkNode(options, { ...modules, identity, user: modules.identity })
      },
    },
  )
  const trackers = watchTrackers(client)
  try {
    return await work(client, trackers)
  } finally {
    trackers.stop()
    await client.close()
  }
}
