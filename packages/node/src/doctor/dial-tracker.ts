import { createIdentity, generatePrivateKey, loadCrypto } from '@runnel/protocol'
import { systemClock, systemRandom } from '@runnel/protocol/system'
import type { TrackerAddress } from '@runnel/network'
import { WebSocketTransport, type Connection } from '@runnel/transport'

/** How long a tracker may take to connect, in milliseconds. */
const dialTimeoutMs = 5_000

/** Connects to a tracker as a node does, and works with the connection, which is then closed. Throws what the dial failed with. */
export async function withTracker<T>(
  { nodeId: peerId, url }: TrackerAddress,
  work: (connection: Connection) => Promise<T>,
): Promise<T> {
  const crypto = await loadCrypto()
  const identity = createIdentity(generatePrivateKey(systemRandom), crypto)
  const modules = { identity, crypto, clock: systemClock, random: systemRandom, agent: 'runnel doctor' }
  const transport = new WebSocketTransport({ role: 'node' }, modules)
  await transport.start()
  try {
    return await new Promise<T>((resolve, reject) => {
      transport.dial({
        ...{ peerId, url, timeoutMs: dialTimeoutMs },
        // Its events are to be set while it opens.
        onOpen: (connection) => void work(connection).then(resolve, reject),
        onFail: reject,
      })
    })
  } finally {
    await transport.stop()
  }
}
