import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createIdentity, generatePrivateKey, loadCrypto } from '@runnel/protocol'
import { systemClock, systemRandom } from '@runnel/protocol/system'
import { createTracker, type Tracker } from '@runnel/tracker'

/** Starts a tracker, and writes `network.json` into a directory: a network of that tracker, without a chain, whose streams everybody may use. */
export async function startDocumentNetwork(
  directory: string,
  publicStreams: readonly { readonly id: string; readonly partitions?: number }[],
): Promise<Tracker> {
  const crypto = await loadCrypto()
  const identity = createIdentity(generatePrivateKey(systemRandom), crypto)
  const modules = { identity, crypto, clock: systemClock, random: systemRandom }
  const tracker = createTracker({ listen: { port: 0 } }, modules)
  await tracker.start()
  const permissions = [{ user: 'public', publish: true, subscribe: true }]
  const streams = publicStreams.map((stream) => ({ ...stream, permissions }))
  const trackers = [{ nodeId: tracker.nodeId, url: tracker.url }]
  writeFileSync(join(directory, 'network.json'), JSON.stringify({ version: 1, trackers, streams }))
  return tracker
}
