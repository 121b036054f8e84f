import { toNodeId, toStreamId } from '@runnel/protocol'
import { expect, it } from 'vitest'
import { delegationOf, fakeDelegations, nodeIdOf } from './delegations.testkit.ts'
import { RegistryReaderPolicy } from './reader-policy.ts'
import { RegistryCache } from './registry-cache.ts'
import { staticNetworkSchema } from './static-network.ts'
import { createStaticRegistries } from './static-registries.ts'

const owner = toNodeId(`0x${'1'.repeat(40)}`)
const open = toStreamId(`${owner}/open`)
const closed = toStreamId(`${owner}/closed`)
const delegation = delegationOf({ userId: owner })

function setUp() {
  const { clock, delegations, registry } = fakeDelegations()
  const { streams, storage } = createStaticRegistries(
    staticNetworkSchema.parse({
      version: 1,
      trackers: [],
      streams: [
        { id: open, permissions: [{ user: 'public', subscribe: true }] },
        { id: closed, permissions: [{ user: owner, subscribe: clock.now() + 5000 }] },
      ],
    }),
  )
  const cache = new RegistryCache({ maxEntries: 100, maxAgeMs: 1000 }, { clock, streams, storage })
  return { registry, delegations, policy: new RegistryReaderPolicy({ cache, delegations, clock }) }
}

it('lets a delegate read as its user does, when it is known that it still is one', async () => {
  const { policy, delegations, registry } = setUp()
  await policy.resolve(closed, owner)
  expect(policy.readsForMs(closed, owner, delegation)).toBeUndefined()
  await policy.resolve(closed, owner, 'a neighbour', delegation)
  expect(policy.readsForMs(closed, owner, delegation)).toBe(5000)
  registry.revoked.set(nodeIdOf(2), 1500)
  delegations.apply({ kind: 'delegations', userId: owner, delegateId: nodeIdOf(2) })
  expect(policy.readsForMs(closed, owner, delegation)).toBeUndefined()
  await policy.resolve(closed, owner, 'a neighbour', delegation)
  expect(policy.readsForMs(closed, owner, delegation)).toBe(0)
  expect(policy.readsForMs(closed, owner)).toBe(5000)
})

it('asks nothing about delegations in a public stream, which anybody may read', async () => {
  const { policy, registry } = setUp()
  await policy.resolve(open, owner, 'a neighbour', delegation)
  expect(policy.readsForMs(open, owner, delegation)).toBe(Infinity)
  expect(registry.asked).toEqual([])
})

it('asks nothing about delegations of those who may not read', async () => {
  const { policy, registry } = setUp()
  const stranger = nodeIdOf(77)
  const theirs = delegationOf({ userId: stranger })
  await policy.resolve(closed, stranger, 'a neighbour', theirs)
  expect(policy.readsForMs(closed, stranger, theirs)).toBe(0)
  expect(registry.asked).toEqual([])
})
