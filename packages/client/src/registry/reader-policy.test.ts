import { keyPartition, permissionScope, toNodeId, toStreamId } from '@runnel/protocol'
import { expect, it } from 'vitest'
import { delegationOf, fakeDelegations, nodeIdOf } from './delegations.testkit.ts'
import { RegistryReaderPolicy } from './reader-policy.ts'
import { RegistryCache } from './registry-cache.ts'
import { staticNetworkSchema } from './static-network.ts'
import { createStaticRegistries } from './static-registries.ts'

const owner = toNodeId(`0x${'1'.repeat(40)}`)
const [publisher, granter] = [nodeIdOf(5), nodeIdOf(6)]
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
        {
          id: closed,
          permissions: [
            { user: owner, subscribe: clock.now() + 5000 },
            { user: publisher, publish: clock.now() + 7000 },
            { user: granter, grant: true },
          ],
        },
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

it('lets those read the key part who may publish to the stream, read it or grant, and no others', async () => {
  const { policy } = setUp()
  const keys = permissionScope(closed, keyPartition)
  const users = [owner, publisher, granter, nodeIdOf(77)]
  for (const user of users) expect(policy.readsForMs(keys, user)).toBeUndefined()
  await Promise.all(users.map((user) => policy.resolve(keys, user)))
  expect(users.map((user) => policy.readsForMs(keys, user))).toEqual([5000, 7000, Infinity, 0])
  await Promise.all(users.map((user) => policy.resolve(closed, user)))
  expect(users.map((user) => policy.readsForMs(closed, user))).toEqual([5000, 0, 0, 0])
})

it('lets everybody read the key part of a public stream', async () => {
  const { policy } = setUp()
  const keys = permissionScope(open, keyPartition)
  await policy.resolve(keys, nodeIdOf(77))
  expect(policy.readsForMs(keys, nodeIdOf(77))).toBe(Infinity)
})
