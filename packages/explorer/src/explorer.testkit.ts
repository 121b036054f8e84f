import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient, type RunnelClient, type StaticNetwork } from '@runnel/client'
import { createNetworkNode } from '@runnel/network'
import { createIdentity, generatePrivateKey, loadCrypto } from '@runnel/protocol'
import { systemClock, systemRandom } from '@runnel/protocol/system'
import { createTracker, type Tracker } from '@runnel/tracker'
import { freePort } from '@runnel/transport'
import { bundleExplorer } from './bundle.ts'

export const streamId = `0x${'a'.repeat(40)}/lobby`
export const partId = `${streamId}#0`
/** Nothing is published there but by the test that counts. */
export const countedId = `0x${'a'.repeat(40)}/counted`
/** Everybody may read it, nobody publish. */
export const noticesId = `0x${'a'.repeat(40)}/notices`

/** What the first node calls itself. */
export const firstName = '<b>Attic</b>'

/** The page, built for a test. */
export async function buildPage(): Promise<{ readonly directory: string; remove(): void }> {
  const directory = mkdtempSync(join(tmpdir(), 'runnel-explorer-'))
  await bundleExplorer(directory)
  return { directory, remove: () => rmSync(directory, { recursive: true }) }
}

/** A real tracker that serves the page, and real nodes. */
export class SmallNetwork {
  readonly tracker: Tracker
  readonly clients: readonly RunnelClient[]

  private constructor(tracker: Tracker, clients: readonly RunnelClient[]) {
    this.tracker = tracker
    this.clients = clients
  }

  static async start(directory: string, nodes: number): Promise<SmallNetwork> {
    const port = await freePort()
    const crypto = await loadCrypto()
    const identity = createIdentity(generatePrivateKey(systemRandom), crypto)
    const network = networkOf({ nodeId: identity.nodeId, url: `ws://127.0.0.1:${port}` })
    const tracker = createTracker(
      { listen: { port }, explorer: { directory, network } },
      { identity, crypto, clock: systemClock, random: systemRandom },
    )
    await tracker.start()
    const websocket = { listen: { host: '127.0.0.1', port: 0 } }
    const clients = await Promise.all(
      Array.from({ length: nodes }, (_, n) =>
        createClient(
          { network, transports: { websocket, webrtc: false } },
          // The first one has a name, as `runnel node` gives it.
          n > 0
            ? {}
            : {
                createNode: (options, modules) =>
                  createNetworkNode({ ...options, role: 'node', name: firstName }, modules),
              },
        ),
      ),
    )
    return new SmallNetwork(tracker, clients)
  }

  async stop(): Promise<void> {
    await Promise.all(this.clients.map((client) => client.close()))
    await this.tracker.stop()
  }
}

function networkOf(tracker: StaticNetwork['trackers'][number]) {
  const permissions: StaticNetwork['streams'][number]['permissions'] = [
    { user: 'public', publish: true, subscribe: true },
  ]
  const document: StaticNetwork = {
    version: 1,
    trackers: [tracker],
    streams: [
      { id: streamId, permissions },
      { id: countedId, permissions },
      { id: noticesId, permissions: [{ user: 'public', publish: false, subscribe: true }] },
    ],
  }
  return { kind: 'static', document } as const
}
