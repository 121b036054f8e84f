import { toNodeId } from '@runnel/protocol'
import { describe, expect, it, vi } from 'vitest'
import { delegationOf, fakeDelegations, nodeIdOf } from './delegations.testkit.ts'
import { RegistryAdmission } from './registry-admission.ts'

const [a, b] = [toNodeId(`0x${'a'.repeat(40)}`), toNodeId(`0x${'b'.repeat(40)}`)]

describe('the admission of a registry', () => {
  it('is open to all where nobody is listed by name, and to nobody where the list is empty', () => {
    const admission = new RegistryAdmission(fakeDelegations().delegations)
    expect([admission.allows(a), admission.isPrivate]).toEqual([true, false])
    admission.setUsers([])
    expect([admission.allows(a), admission.isPrivate]).toEqual([false, true])
  })

  it('follows the list, and tells of changes only', () => {
    const admission = new RegistryAdmission(fakeDelegations().delegations)
    const heard: boolean[] = []
    const stop = admission.onChange(() => heard.push(admission.allows(a)))
    admission.setUsers(undefined)
    admission.setUsers([a, b])
    admission.setUsers([b, a])
    admission.setUsers([b])
    admission.setUsers([a])
    expect(heard).toEqual([true, false, true])
    stop()
    admission.setUsers([])
    expect([heard.length, admission.allows(a)]).toEqual([3, false])
  })
})

describe('the admission of a node with a delegation', () => {
  function setUp(block = 0) {
    const { registry, delegations } = fakeDelegations()
    const admission = new RegistryAdmission(delegations)
    admission.setUsers([a])
    const delegation = delegationOf({ userId: a, block })
    const told = () => new Promise<void>((resolve) => admission.onChange(resolve))
    return { admission, delegation, delegations, registry, told }
  }

  it('believes what the user’s key signed, until it hears that it was taken back', async () => {
    const { admission, delegation, registry, told } = setUp()
    registry.revoked.set(nodeIdOf(2), 1500)
    const heard = told()
    expect(admission.allows(a, delegation)).toBe(true)
    expect(admission.allows(a, delegation)).toBe(true)
    await heard
    expect([admission.allows(a, delegation), admission.allows(a)]).toEqual([false, true])
    expect(registry.asked).toEqual(['revoked'])
  })

  it('asks in the name of whoever makes it ask, who pays for the look-up, and once at a time', async () => {
    const { admission, delegation, delegations, told, registry } = setUp()
    const resolve = vi.spyOn(delegations, 'resolve')
    registry.revoked.set(nodeIdOf(2), 1500)
    const heard = told()
    admission.allows(a, delegation, '192.0.2.0/24')
    admission.allows(a, delegation, '198.51.100.0/24')
    await heard
    expect(resolve.mock.calls).toEqual([[delegation, '192.0.2.0/24']])
  })

  it('says why one is out: not listed, or taken back, in a network open to all as well', async () => {
    const { admission, delegation, registry, told } = setUp()
    registry.revoked.set(nodeIdOf(2), 1500)
    const codes = () => [admission.problemOf(b)?.code, admission.problemOf(a, delegation)?.code]
    const heard = told()
    expect(codes()).toEqual(['NODE_NOT_LISTED', undefined])
    await heard
    expect(codes()).toEqual(['NODE_NOT_LISTED', 'DELEGATION_REVOKED'])
    admission.setUsers(undefined)
    expect(codes()).toEqual([undefined, 'DELEGATION_REVOKED'])
    expect(admission.problemOf(a, delegation)?.message).toContain(nodeIdOf(2))
  })

  it('has those who ask look again when one is taken back later', async () => {
    const { admission, delegation, delegations, registry, told } = setUp()
    await delegations.resolve(delegation)
    expect(admission.allows(a, delegation)).toBe(true)
    registry.revoked.set(nodeIdOf(2), 1500)
    delegations.apply({ kind: 'delegations', userId: a, delegateId: nodeIdOf(2) })
    admission.onChange(() => admission.allows(a, delegation))
    const heard = told()
    admission.delegationsChanged()
    await heard
    await delegations.resolve(delegation)
    expect(admission.allows(a, delegation)).toBe(false)
  })

  it('does not believe a contract before it has been asked', async () => {
    const { admission, delegation, registry, told } = setUp(7)
    registry.backed.add('now')
    const heard = told()
    expect(admission.allows(a, delegation)).toBe(false)
    await heard
    expect(admission.allows(a, delegation)).toBe(true)
  })

  it('goes by what is known while the chain is away, and asks nothing about users that are not listed', async () => {
    const { admission, delegation, delegations, registry } = setUp()
    registry.isAway = true
    expect(admission.allows(b, { ...delegation, userId: b })).toBe(false)
    expect(registry.asked).toEqual([])
    expect(admission.allows(a, delegation)).toBe(true)
    await expect(delegations.resolve(delegation)).rejects.toThrow('away')
    expect(admission.allows(a, delegation)).toBe(true)
  })
})
