import { createNetworkNode, type NetworkNode } from '@runnel/network'
import {
  createIdentity,
  generatePrivateKey,
  loadCrypto,
  parsePrivateKey,
  signDelegation,
  toStreamId,
  toStreamPartId,
  type StreamPartId,
} from '@runnel/protocol'
import { systemClock, systemRandom } from '@runnel/protocol/system'
import { createTracker, type Tracker } from '@runnel/tracker'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { Clients, newIdentity, take } from './client.testkit.ts'
import { keySigner, openRegistry, type RegistryService } from './index.ts'
import { mined, startTestChain, type TestChain } from './registry/chain.testkit.ts'

const crypto = await loadCrypto()
const modules = { crypto, clock: systemClock, random: systemRandom }
const chainId = 31337

let chain: TestChain
let registry: RegistryService
let tracker: Tracker
let part: StreamPartId
const nodes: NetworkNode[] = []

beforeAll(async () => {
  chain = await startTestChain()
  const { url: rpcUrl, registries, accounts } = chain
  registry = await openRegistry({
    network: { kind: 'chain', rpcUrl, chainId, registries },
    registry: { pollIntervalMs: 20 },
  })
  const permissions = { readers: registry.readerPolicy, publishers: registry.publisherPolicy }
  tracker = createTracker({ listen: { port: 0 } }, { ...modules, identity: newIdentity(), permissions })
  await tracker.start()
  await mined(chain.streams.createStream('delegated', '', 1, []))
  part = toStreamPartId(toStreamId(`${accounts[0].nodeId}/delegated`), 0)
})
afterAll(async () => {
  await Promise.all(nodes.map((node) => node.stop()))
  await tracker.stop()
  await registry.stop()
  await chain.stop()
})

/** A node with a key of its own, which acts for the first account of the chain. */
async function startDelegate(): Promise<NetworkNode> {
  const user = createIdentity(parsePrivateKey(chain.accounts[0].privateKey), crypto)
  const identity = createIdentity(generatePrivateKey(systemRandom), crypto)
  const nowMs = Date.now()
  const claim = {
    ...{
      chainId,
      userId: user.nodeId,
      delegateId: identity.nodeId,
      fromMs: nowMs,
      untilMs: nowMs + 3_600_000,
    },
    ...{ publishes: true, reads: true, streams: [], requester: '', block: 0 },
  }
  const credential = { delegation: signDelegation(claim, crypto, user) }
  const { publisherPolicy, readerPolicy } = registry
  const node = createNetworkNode(
    { transports: { websocket: { listen: { host: '127.0.0.1', port: 0 } }, webrtc: false } },
    {
      ...{ ...modules, identity, publisherPolicy, readerPolicy },
      acting: { chainId, credential: () => credential, onChange: () => () => {} },
      trackers: {
        trackersFor: () => [{ nodeId: tracker.nodeId, url: tracker.url }],
        onChange: () => () => {},
      },
    },
  )
  nodes.push(node)
  await node.start()
  return node
}

const hasNeighbours = (node: NetworkNode, expected: readonly NetworkNode[]) =>
  new Promise<void>((resolve) =>
    node.on('neighbours', (id, neighbours) => {
      const ids = expected.map(({ nodeId }) => nodeId)
      if (id === part && neighbours.length === ids.length && ids.every((it) => neighbours.includes(it)))
        resolve()
    }),
  )

it('neighbours and the tracker let go of a node whose delegation its user takes back', async () => {
  const [kept, other, lost] = [await startDelegate(), await startDelegate(), await startDelegate()] as const
  const together = [
    hasNeighbours(kept, [other, lost]),
    hasNeighbours(other, [kept, lost]),
    hasNeighbours(lost, [kept, other]),
  ]
  for (const node of [kept, other, lost]) node.join(part)
  await Promise.all(together)
  const apart = [hasNeighbours(kept, [other]), hasNeighbours(other, [kept])]
  const refused = new Promise<string>((resolve) => {
    lost.on('dropped', (counter, detail) => counter === 'tracker.refused' && resolve(detail))
  })
  await mined(chain.streams.revokeDelegate(lost.nodeId))
  await Promise.all(apart)
  expect(await refused).toMatch(/^NOT_PERMITTED/)
  expect(tracker.overlays.find(({ streamPartId }) => streamPartId === part)?.nodes.toSorted()).toEqual(
    [kept.nodeId, other.nodeId].sort(),
  )

  const ended = new Promise<void>((resolve) => {
    const left = new Set([kept, other])
    for (const node of left)
      node.on('neighbours', (_, neighbours) => {
        if (neighbours.length === 0) left.delete(node)
        if (left.size === 0) resolve()
      })
  })
  await mined(chain.streams.revokeDelegations(Date.now()))
  await ended
}, 60_000)

it('processes that can sign anew go on after their user ended all delegations, and so do those started then', async () => {
  const { url: rpcUrl, registries, accounts, trackers } = chain
  await mined(trackers.addTracker(tracker.nodeId, tracker.url, ''))
  const { privateKey, nodeId } = accounts[0]
  const streamId = `${nodeId}/delegated`
  const clients = new Clients({
    network: { kind: 'chain', rpcUrl, chainId, registries },
    registry: { pollIntervalMs: 20 },
  })
  try {
    const first = await clients.create({ privateKey })
    const heard = await first.subscribe(streamId)
    await first.revokeDelegations()
    for (const config of [{ privateKey }, { signer: keySigner(privateKey) }]) {
      const next = await clients.create(config)
      await next.subscribe(streamId)
      await next.publish(streamId, 'after')
    }
    const contents = await take(heard, 2)
    expect(contents.map(({ content }) => content)).toEqual(['after', 'after'])
  } finally {
    await clients.closeAll()
  }
}, 60_000)
