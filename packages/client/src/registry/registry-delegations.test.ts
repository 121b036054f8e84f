import type { NodeId } from '@runnel/protocol'
import { describe, expect, it } from 'vitest'
import { VirtualClock } from '@runnel/transport'
import { delegationOf, fakeDelegations, nodeIdOf } from './delegations.testkit.ts'
import { RegistryDelegations } from './registry-delegations.ts'
import { staticNetworkSchema } from './static-network.ts'
import { createStaticRegistries } from './static-registries.ts'

/** Until what was begun in the background is done. */
const settled = () => new Promise((resolve) => setImmediate(resolve))

describe('a delegation of a user with a key', () => {
  it('is unknown until it is looked up, and then holds', async () => {
    const { delegations, registry } = fakeDelegations()
    const delegation = delegationOf()
    expect([delegations.check(delegation), delegations.revokedMs(delegation)]).toEqual(['unknown', undefined])
    await delegations.resolve(delegation)
    expect([delegations.check(delegation), delegations.revokedMs(delegation)]).toEqual(['allowed', Infinity])
    expect(await delegations.validUntilMs(delegation)).toBe(Infinity)
    expect(registry.asked).toEqual(['revoked'])
  })

  it('is denied when it was taken back, and says until when it counts in history', async () => {
    const { delegations, registry } = fakeDelegations()
    registry.revoked.set(nodeIdOf(2), 1500)
    const [revoked, other] = [delegationOf(), delegationOf({ delegateId: nodeIdOf(3) })]
    await Promise.all([delegations.resolve(revoked), delegations.resolve(other)])
    expect([delegations.check(revoked), delegations.check(other)]).toEqual(['denied', 'allowed'])
    expect([delegations.revokedMs(revoked), await delegations.validUntilMs(revoked)]).toEqual([1500, 1500])
  })

  it('is looked up again when its user ended one, and no other user’s is', async () => {
    const { delegations, registry } = fakeDelegations()
    const [mine, theirs] = [delegationOf(), delegationOf({ userId: nodeIdOf(9) })]
    await Promise.all([delegations.resolve(mine), delegations.resolve(theirs)])
    registry.revoked.set(nodeIdOf(2), 1500)
    delegations.apply({ kind: 'delegations', userId: nodeIdOf(1), delegateId: nodeIdOf(2) })
    expect([delegations.check(mine), delegations.check(theirs)]).toEqual(['unknown', 'allowed'])
    await delegations.resolve(mine)
    expect(delegations.check(mine)).toBe('denied')
    delegations.apply({ kind: 'unknown' })
    expect(delegations.check(theirs)).toBe('unknown')
  })

  it('is looked up again when it is one of those that its user ended, and not otherwise', async () => {
    const { delegations } = fakeDelegations()
    const claims = [{ fromMs: 1000 }, { fromMs: 2000 }, { fromMs: 2001 }, { delegateId: nodeIdOf(3) }]
    const all = claims.map((claim) => delegationOf(claim))
    const known = async (change: { delegateId: NodeId } | { begunByMs: number }) => {
      for (const delegation of all) await delegations.resolve(delegation)
      delegations.apply({ kind: 'delegations', userId: nodeIdOf(1), ...change })
      return all.map((delegation) => delegations.check(delegation) === 'allowed')
    }
    expect(await known({ begunByMs: 2000 })).toEqual([false, false, true, false])
    expect(await known({ delegateId: nodeIdOf(3) })).toEqual([true, true, true, false])
  })

  it('stays as it is known while the registry is away, and is asked again when that is old', async () => {
    const { clock, delegations, registry, changes } = fakeDelegations()
    const delegation = delegationOf()
    await delegations.resolve(delegation)
    registry.isAway = true
    clock.advanceBy(1000)
    expect(delegations.check(delegation)).toBe('allowed')
    await settled()
    registry.isAway = false
    registry.revoked.set(nodeIdOf(2), 1500)
    clock.advanceBy(5000)
    expect(delegations.check(delegation)).toBe('allowed')
    await settled()
    expect([delegations.check(delegation), changes()]).toEqual(['denied', 1])
  })
})

describe('a delegation of a contract', () => {
  const delegation = delegationOf({ block: 7, signature: Uint8Array.of(0, 32, 255) })

  it('holds while the contract backs it now, whatever it did when it was signed', async () => {
    const { delegations, registry } = fakeDelegations()
    registry.backed.add('signed')
    expect(delegations.check(delegation)).toBe('unknown')
    await delegations.resolve(delegation)
    expect(delegations.check(delegation)).toBe('denied')
    expect(registry.asked).toEqual(['revoked', 'now'])
  })

  it('is valid in history where it was backed when it was signed', async () => {
    const { delegations, registry } = fakeDelegations()
    expect(await delegations.validUntilMs(delegation)).toBe(0)
    delegations.apply({ kind: 'unknown' })
    registry.backed.add('signed')
    expect(await delegations.validUntilMs(delegation)).toBe(Infinity)
    registry.revoked.set(nodeIdOf(2), 1500)
    delegations.apply({ kind: 'delegations', userId: nodeIdOf(1), delegateId: nodeIdOf(2) })
    expect(await delegations.validUntilMs(delegation)).toBe(1500)
  })

  it('is denied when it was taken back, whatever the contract says', async () => {
    const { delegations, registry } = fakeDelegations()
    registry.backed.add('now')
    registry.revoked.set(nodeIdOf(2), 1500)
    await delegations.resolve(delegation)
    expect(delegations.check(delegation)).toBe('denied')
  })

  it('is asked about again as time passes, and a change of mind is told', async () => {
    const { clock, delegations, registry, changes } = fakeDelegations()
    registry.backed.add('now')
    expect(delegations.hasContractAnswers).toBe(false)
    await delegations.resolve(delegation)
    expect([delegations.check(delegation), delegations.hasContractAnswers]).toEqual(['allowed', true])
    clock.advanceBy(1000)
    delegations.check(delegation)
    await settled()
    expect(changes()).toBe(0)
    registry.backed.clear()
    clock.advanceBy(1000)
    delegations.check(delegation)
    await settled()
    expect([delegations.check(delegation), changes()]).toEqual(['denied', 1])
  })

  it('is not the same as another with another signature', async () => {
    const { delegations, registry } = fakeDelegations()
    registry.backed.add('now')
    await delegations.resolve(delegation)
    expect(delegations.check({ ...delegation })).toBe('allowed')
    expect(delegations.check({ ...delegation, signature: Uint8Array.of(1) })).toBe('unknown')
  })

  it('is refused where there is no chain, in which nothing is taken back', async () => {
    const network = staticNetworkSchema.parse({ version: 1, trackers: [], streams: [] })
    const registry = createStaticRegistries(network).delegations
    const options = { maxEntries: 100, maxAgeMs: 1000 }
    const delegations = new RegistryDelegations(options, { clock: new VirtualClock(), registry })
    expect(delegations.check(delegation)).toBe('denied')
    const needsChain = { code: 'CONTRACT_NEEDS_CHAIN' }
    await expect(delegations.resolve(delegation)).rejects.toMatchObject(needsChain)
    await expect(delegations.validUntilMs(delegation)).rejects.toMatchObject(needsChain)
    const ofKey = delegationOf()
    await delegations.resolve(ofKey)
    expect(delegations.check(ofKey)).toBe('allowed')
  })
})

describe('what is remembered of delegations', () => {
  it('is enough for a thousand processes of one user, asked about once each', async () => {
    const { delegations, registry } = fakeDelegations({ maxEntries: 10_000 })
    const all = Array.from({ length: 1000 }, (_, n) => delegationOf({ delegateId: nodeIdOf(100 + n) }))
    for (const delegation of all) await delegations.resolve(delegation, 'a neighbour')
    for (const delegation of all) expect(delegations.check(delegation)).toBe('allowed')
    expect(registry.asked).toHaveLength(1000)
    expect(delegations.counters()).toMatchObject({
      registryDelegationsCached: 1000,
      registryDelegationsEvicted: 0,
    })
  })

  it('is bounded, and who asks about most loses first', async () => {
    const { delegations } = fakeDelegations({ maxEntries: 500 })
    const known = delegationOf({ userId: nodeIdOf(5) })
    await delegations.resolve(known, 'a neighbour')
    for (let n = 0; n < 10_000; n++)
      await delegations.resolve(delegationOf({ userId: nodeIdOf(100 + n) }), 'another')
    expect(delegations.check(known)).toBe('allowed')
    expect(delegations.counters()).toMatchObject({
      registryDelegationsCached: 500,
      registryDelegationsEvicted: 9501,
    })
  })

  it('of contracts is bounded further, as whole delegations are kept', async () => {
    const { delegations } = fakeDelegations({ maxEntries: 10_000 })
    for (let n = 0; n < 1100; n++)
      await delegations.resolve(delegationOf({ userId: nodeIdOf(100 + n), block: 1 }))
    expect(delegations.counters()).toMatchObject({
      registryDelegationsCached: 1100,
      registryContractAnswersCached: 1000,
      registryDelegationsEvicted: 100,
    })
  })
})
