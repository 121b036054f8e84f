import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { createNetworkNode } from '@runnel/network'
import { createIdentity, loadCrypto, type Crypto, type Delegation, type NodeId } from '@runnel/protocol'
import { systemClock, systemRandom } from '@runnel/protocol/system'
import { newDelegation, newIdentity } from '../swarm.ts'

/** What code costs that runs for the first time is no part of it. */
const warmUp = 100

/** Heap and array buffers of a node that remembers delegations of as many users, one for one process of each. */
export async function bytesPerDelegation(count: number): Promise<number> {
  const crypto = await loadCrypto()
  bytesOf(warmUp, crypto)
  return bytesOf(count, crypto) / count
}

function bytesOf(count: number, crypto: Crypto): number {
  const node = createNetworkNode(
    { transports: { webrtc: false }, limits: { maxDelegations: count } },
    {
      ...{ identity: newIdentity(crypto), crypto, clock: systemClock, random: systemRandom },
      publisherPolicy: { check: () => 'allowed', resolve: async () => {} },
      trackers: { trackersFor: () => [], onChange: () => () => {} },
    },
  )
  const template = newDelegation(crypto, newIdentity(crypto), newIdentity(crypto).nodeId)
  const before = usedBytes()
  let last = node.delegations.add(template)
  for (let i = 1; i < count; i++) last = node.delegations.add(like(template, crypto))
  const bytes = usedBytes() - before
  // Also keeps them all until here.
  if (node.delegations.get(last) === undefined) throw new Error('a delegation was forgotten')
  return bytes
}

/** Of another user and delegate. Nobody looks at its signature here, which is as long as any. */
function like(template: Delegation, crypto: Crypto): Delegation {
  const newId = (): NodeId => createIdentity(systemRandom.bytes(32), crypto).nodeId
  return { ...template, userId: newId(), delegateId: newId(), signature: systemRandom.bytes(65) }
}

function usedBytes(): number {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  for (let i = 0; i < 3; i++) collect()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}
