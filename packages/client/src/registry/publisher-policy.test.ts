import { keyPartition, permissionScope, toNodeId, toStreamId } from '@runnel/protocol'
import { VirtualClock } from '@runnel/transport'
import { describe, expect, it } from 'vitest'
import { createPublisherPolicy } from './publisher-policy.ts'
import { createdToleranceMs } from './predates.ts'
import { delegationOf, fakeDelegations, nodeIdOf } from './delegations.testkit.ts'
import { RegistryCache } from './registry-cache.ts'
import { staticNetworkSchema } from './static-network.ts'
import { createStaticRegistries } from './static-registries.ts'

const owner = toNodeId(`0x${'1'.repeat(40)}`)
const stranger = toNodeId(`0x${'2'.repeat(40)}`)
const [reader, granter] = [nodeIdOf(3), nodeIdOf(4)]
const open = toStreamId(`${owner}/open`)
const closed = toStreamId(`${owner}/closed`)
const missing = toStreamId(`${owner}/missing`)

function setUp(createdMs = 0) {
  const network = staticNetworkSchema.parse({
    version: 1,
    trackers: [],
    streams: [
      { id: open, permissions: [{ user: 'public', publish: 5000 }] },
      {
        id: closed,
        permissions: [
          { user: owner, publish: true },
          { user: reader, subscribe: 5000 },
          { user: granter, grant: true },
        ],
      },
    ],
  })
  const { streams, storage } = createStaticRegistries(network)
  const getStream: typeof streams.getStream = async (streamId) => {
    const stream = await streams.getStream(streamId)
    return stream && { ...stream, createdMs }
  }
  const modules = { clock: new VirtualClock(), storage, streams: { ...streams, getStream } }
  const cache = new RegistryCache({ maxEntries: 100, maxAgeMs: 1000 }, modules)
  const { registry, delegations } = fakeDelegations()
  return { cache, registry, delegations, policy: createPublisherPolicy(cache, delegations) }
}

it('does not know before it found out', async () => {
  const { policy } = setUp()
  expect(policy.check(closed, owner, 1000)).toBe('unknown')
  await policy.resolve(closed, owner)
  expect(policy.check(closed, owner, 1000)).toBe('allowed')
  expect(policy.check(closed, stranger, 1000)).toBe('unknown')
})

it('allows what is public until it ends, and not a millisecond longer', async () => {
  const { policy } = setUp()
  await policy.resolve(open, stranger)
  expect(policy.check(open, stranger, 4999)).toBe('allowed')
  expect(policy.check(open, stranger, 5000)).toBe('denied')
})

it('denies a stranger, and everybody on a stream that is not there', async () => {
  const { policy } = setUp()
  await Promise.all([policy.resolve(closed, stranger), policy.resolve(missing, owner)])
  expect(policy.check(closed, stranger, 0)).toBe('denied')
  expect(policy.check(missing, owner, 0)).toBe('denied')
})

it('denies what is older than the stream, but for a tolerance', async () => {
  const { policy } = setUp(10 * createdToleranceMs)
  const nowMs = 20 * createdToleranceMs
  const oldestMs = 9 * createdToleranceMs
  expect(policy.check(closed, owner, nowMs, oldestMs)).toBe('unknown')
  await policy.resolve(closed, owner)
  expect(policy.check(closed, owner, nowMs, oldestMs)).toBe('allowed')
  expect(policy.check(closed, owner, nowMs, oldestMs - 1)).toBe('denied')
  expect(policy.check(closed, owner, nowMs)).toBe('allowed')
})

it('denies nothing for its age where nobody knows when the stream was created', async () => {
  const { policy } = setUp()
  await policy.resolve(closed, owner)
  expect(policy.check(closed, owner, 5, 0)).toBe('allowed')
})

it('does not know any more when the permission changed', async () => {
  const { policy, cache } = setUp()
  for (const user of [owner, stranger]) await policy.resolve(closed, user)
  await policy.resolve(open, owner)
  cache.apply({ kind: 'permissions', streamId: closed, user: stranger })
  expect([owner, stranger].map((user) => policy.check(closed, user, 0))).toEqual(['allowed', 'unknown'])
  cache.apply({ kind: 'permissions', streamId: closed, user: 'public' })
  expect(policy.check(closed, owner, 0)).toBe('unknown')
  expect(policy.check(open, owner, 0)).toBe('allowed')
  cache.apply({ kind: 'stream', streamId: open })
  expect(policy.check(open, owner, 0)).toBe('unknown')
})

it('looks a delegation up too, and denies one that was taken back', async () => {
  const { policy, delegations, registry } = setUp()
  const delegation = delegationOf({ userId: owner })
  await policy.resolve(closed, owner)
  expect(policy.check(closed, owner, 0, 0, delegation)).toBe('unknown')
  await policy.resolve(closed, owner, 'a neighbour', delegation)
  expect(policy.check(closed, owner, 0, 0, delegation)).toBe('allowed')
  registry.revoked.set(nodeIdOf(2), 1500)
  delegations.apply({ kind: 'delegations', userId: owner, delegateId: nodeIdOf(2) })
  expect(policy.check(closed, owner, 0, 0, delegation)).toBe('unknown')
  await policy.resolve(closed, owner, 'a neighbour', delegation)
  expect(policy.check(closed, owner, 0, 0, delegation)).toBe('denied')
  expect(policy.check(closed, owner, 0)).toBe('allowed')
})

describe('a delegation of which nothing is known', () => {
  it('is asked about beside what its user may, in one round trip', async () => {
    const { policy, cache, registry } = setUp()
    const delegation = delegationOf({ userId: owner })
    const asked = policy.resolve(closed, owner, 'a neighbour', delegation)
    expect([registry.asked, cache.peekPermissions(closed, owner)]).toEqual([['revoked'], undefined])
    await asked
    expect(policy.check(closed, owner, 0, 0, delegation)).toBe('allowed')
    expect(registry.asked).toEqual(['revoked'])
  })

  it('is not asked about when its user is known not to publish', async () => {
    const { policy, registry } = setUp()
    await policy.resolve(closed, stranger)
    const delegation = delegationOf({ userId: stranger })
    await policy.resolve(closed, stranger, 'a neighbour', delegation)
    expect(policy.check(closed, stranger, 0, 0, delegation)).toBe('denied')
    expect(registry.asked).toEqual([])
  })

  it('has no contract asked whose user may not publish', async () => {
    const { policy, registry } = setUp()
    registry.backed.add('now')
    const of = (userId: typeof owner) => delegationOf({ userId, block: 7 })
    await policy.resolve(closed, stranger, 'a neighbour', of(stranger))
    expect(registry.asked).toEqual([])
    await policy.resolve(closed, owner, 'a neighbour', of(owner))
    expect(registry.asked.toSorted()).toEqual(['now', 'revoked'])
    expect(policy.check(closed, owner, 0, 0, of(owner))).toBe('allowed')
  })

  it('says nothing of the permission when it cannot be asked about', async () => {
    const { policy, registry } = setUp()
    registry.isAway = true
    const of = (userId: typeof owner) => delegationOf({ userId })
    await policy.resolve(closed, stranger, 'a neighbour', of(stranger))
    expect(policy.check(closed, stranger, 0, 0, of(stranger))).toBe('denied')
    await expect(policy.resolve(closed, owner, 'a neighbour', of(owner))).rejects.toThrow('away')
  })
})

it('lets publishers, subscribers and those who may grant publish in the key part, and only publishers elsewhere', async () => {
  const { policy } = setUp()
  const keys = permissionScope(closed, keyPartition)
  expect(policy.check(keys, reader, 0)).toBe('unknown')
  const users = [owner, reader, granter, stranger]
  await Promise.all(users.map((user) => policy.resolve(keys, user)))
  const answers = (scope: typeof keys, wallMs: number) =>
    users.map((user) => policy.check(scope, user, wallMs) === 'allowed')
  expect(answers(keys, 4999)).toEqual([true, true, true, false])
  expect(answers(keys, 5000)).toEqual([true, false, true, false])
  expect(answers(closed, 0)).toEqual([true, false, false, false])
})

it('asks about the delegation of a reader that publishes in the key part', async () => {
  const { policy, registry } = setUp()
  const delegation = delegationOf({ userId: reader })
  await policy.resolve(closed, reader)
  await policy.resolve(closed, reader, 'a neighbour', delegation)
  expect(registry.asked).toEqual([])
  const keys = permissionScope(closed, keyPartition)
  const asked = policy.resolve(keys, reader, 'a neighbour', delegation)
  // At once: what its user may is known.
  expect(registry.asked).toEqual(['revoked'])
  await asked
  expect(policy.check(keys, reader, 0, 0, delegation)).toBe('allowed')
})
