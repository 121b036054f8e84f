import type { StaticNetwork } from '@runnel/client'
import { createIdentity, generatePrivateKey, loadCrypto, type Identity } from '@runnel/protocol'
import { systemClock, systemRandom } from '@runnel/protocol/system'
import { createTracker, type Tracker } from '@runnel/tracker'

const crypto = await loadCrypto()

const newIdentity = (): Identity => createIdentity(generatePrivateKey(systemRandom), crypto)

/** A real tracker on a free port of this machine, or on the one given. */
export async function startTracker(identity = newIdentity(), port = 0): Promise<Tracker> {
  const modules = { identity, crypto, clock: systemClock, random: systemRandom }
  const tracker = createTracker({ listen: { port } }, modules)
  await tracker.start()
  return tracker
}

/** A network of one tracker and one stream that is open to all. */
export function networkOf(
  { nodeId, url }: Pick<Tracker, 'nodeId' | 'url'>,
  streamId: string,
): { readonly kind: 'static'; readonly document: StaticNetwork } {
  const permissions = [{ user: 'public' as const, publish: true, subscribe: true }]
  return {
    kind: 'static',
    document: { version: 1, trackers: [{ nodeId, url }], streams: [{ id: streamId, permissions }] },
  }
}
