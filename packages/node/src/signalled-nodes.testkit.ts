/** Real nodes that only signalling reaches, and their tracker; all are stopped after each test, the last first. */
import { createNetworkNode, type NetworkNode } from '@runnel/network'
import { createIdentity, generatePrivateKey, loadCrypto, type Identity, type Signal } from '@runnel/protocol'
import { systemClock, systemRandom } from '@runnel/protocol/system'
import { createTracker, type Tracker } from '@runnel/tracker'
import { createTransports } from '@runnel/transport'
import { afterEach } from 'vitest'

const crypto = await loadCrypto()
const system = { crypto, clock: systemClock, random: systemRandom }
export const newIdentity = () => createIdentity(generatePrivateKey(systemRandom), crypto)

/** What is to be stopped after the test. */
export const running: { stop(): Promise<void> }[] = []
afterEach(async () => {
  for (const one of running.splice(0).toReversed()) await one.stop()
})

/** What is thrown here nobody catches. */
function fail(error: unknown): void {
  throw error
}

export async function startTracker(): Promise<Tracker> {
  const tracker = createTracker(
    { listen: { port: 0 } },
    { ...system, identity: newIdentity(), onError: fail },
  )
  await tracker.start()
  running.push(tracker)
  return tracker
}

export interface SignalledNode {
  readonly node: NetworkNode
  /** Hears of each signal just before it is sent. */
  onSignal: (signal: Signal) => void
}

export async function startNode(
  { nodeId, url }: Pick<Tracker, 'nodeId' | 'url'>,
  options: Pick<Parameters<typeof createNetworkNode>[0], 'limits'> = {},
  identity: Identity = newIdentity(),
): Promise<SignalledNode> {
  const made: { onSignal: SignalledNode['onSignal'] } = { onSignal: () => undefined }
  const node = createNetworkNode(options, {
    ...system,
    ...{ identity, onError: fail },
    publisherPolicy: { check: () => 'allowed', resolve: async () => undefined },
    trackers: { trackersFor: () => [{ nodeId, url }], onChange: () => () => {} },
    transports: (modules) => {
      const send = (signal: Signal): boolean => {
        made.onSignal(signal)
        return modules.signalling.send(signal)
      }
      const signalling = { ...modules.signalling, send }
      return createTransports({ webrtc: { bindAddress: '127.0.0.1' } }, { ...modules, signalling })
    },
  })
  await node.start()
  running.push(node)
  return Object.assign(made, { node })
}
