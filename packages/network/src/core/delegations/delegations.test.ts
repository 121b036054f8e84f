import { delegationRef, encodeDelegation, type DelegationRef } from '@runnel/protocol'
import { describe, expect, it } from 'vitest'
import { networkLimits } from '../../limits.ts'
import {
  attach,
  batchAt,
  closed,
  control,
  CoreScript,
  crypto,
  data,
  delegationOf,
  identityOf,
  idOf,
  opened,
  partId,
  startMs,
  streamId,
} from '../core.testkit.ts'
import type { OverlayEvent } from '../events.ts'

const delegation = delegationOf()
const delegate = { identity: identityOf(8), delegation }
const refOf = (of = delegation): DelegationRef => delegationRef(encodeDelegation(of), crypto)
const bring = (peer: number, of = delegation): OverlayEvent =>
  control(peer, { type: 'delegation', delegation: of })
const resolved: OverlayEvent = {
  type: 'publisherResolved',
  scope: streamId,
  publisherId: delegation.userId,
  delegation,
  found: true,
}

describe('what a delegate signed', () => {
  it('is delivered in the name of its user and forwarded, behind its delegation once a link', () => {
    const script = new CoreScript().withNeighbours(2, 3, 4)
    expect(script.run(bring(2), data(2, batchAt([startMs], { delegate })))).toEqual([
      ...['delegation 3', 'data 3', 'delegation 4', 'data 4', 'deliver 0'],
    ])
    expect(script.delivered[0]?.publisherId).toBe(delegation.userId)
    const next = batchAt([startMs + 1], { delegate, previous: { timestamp: startMs, sequenceNumber: 0 } })
    expect(script.run(data(3, next))).toEqual(['data 2', 'data 4', 'deliver 1'])
    expect(script.delegationsVerified).toBe(1)
  })

  it('goes with its delegation to a neighbour whose link is new, and in replays', () => {
    const script = new CoreScript().withNeighbours(2, 3)
    script.run(bring(2), data(2, batchAt([startMs], { delegate })))
    script.run(closed(3))
    expect(script.run(opened(3), attach(3, 60_000))).toEqual(
      expect.arrayContaining(['delegation 3', 'data 3']),
    )
  })

  it('is asked for when it was never seen, and fills its gap later', () => {
    const script = new CoreScript().withNeighbours(2, 3)
    const batch = batchAt([startMs], { delegate })
    expect(script.run(data(2, batch))).toEqual(['dropped data.delegationUnknown', 'askDelegation 2'])
    expect(script.sent.at(-1)).toEqual({ type: 'askDelegation', ref: refOf() })
    expect(script.run(bring(2), data(2, batch))).toContain('deliver 0')
    expect(script.run(control(3, { type: 'askDelegation', ref: refOf() }))).toEqual(['delegation 3'])
    expect(
      script.run(control(3, { type: 'askDelegation', ref: refOf(delegationOf({ requester: 'x' })) })),
    ).toEqual([])
  })

  it.each([
    ['a delegation that somebody else signed', delegationOf({}, identityOf(9)), 0],
    ['one that ended before', delegationOf({ untilMs: startMs + 5 }), 5],
    ['one that began later', delegationOf({ fromMs: startMs + 6 }), 5],
    ['one to read', delegationOf({ publishes: false }), 5],
    ['one for another key', delegationOf({ delegateId: idOf(5) }), 5],
    ['one of another user', delegationOf({ userId: identityOf(9).nodeId }, identityOf(9)), 5],
    ['one for another stream', delegationOf({ streams: [`${streamId}x` as typeof streamId] }), 5],
  ])('is not taken under %s', (_, bad, atMs) => {
    const script = new CoreScript().withNeighbours(2, 3)
    const batch = batchAt([startMs + atMs], { delegate: { identity: identityOf(8), delegation: bad } })
    expect(script.run(bring(2, bad), data(2, batch))).toEqual(
      expect.arrayContaining(['dropped data.forged', 'disconnect 2 MISBEHAVED']),
    )
    expect(script.delivered).toEqual([])
  })

  it('is dropped under one for another chain, and not held against who forwards it', () => {
    const script = new CoreScript().withNeighbours(2, 3)
    const foreign = delegationOf({ chainId: 5 })
    const under = { identity: identityOf(8), delegation: foreign }
    // Nor when it contradicts what was taken.
    script.run(data(3, batchAt([startMs + 9])))
    for (const policy of ['allowed', 'unknown', 'denied'] as const) {
      script.policy = policy
      expect(
        script.run(bring(2, foreign), data(2, batchAt([startMs], { delegate: under, chainId: 'd' }))),
      ).toEqual(['dropped data.delegationOtherChain'])
    }
    script.policy = 'allowed'
    const contradicting = batchAt([startMs + 9], { delegate: under, content: [4] })
    expect(script.run(data(2, contradicting))).toEqual([])
    expect(script.delegationsVerified).toBe(0)
  })

  it('is refused under one that was taken back, however early its messages', () => {
    const script = new CoreScript().withNeighbours(2, 3)
    script.run(bring(2), data(2, batchAt([startMs + 5], { delegate })))
    script.delegates = { [delegation.delegateId]: 'denied' }
    expect(script.run(data(2, batchAt([startMs + 1], { delegate, chainId: 'd' })))).toEqual([
      'dropped data.publisherDenied',
    ])
  })

  it('waits while nobody knows whether the delegation is in force, beside what its user signed', () => {
    const script = new CoreScript().withNeighbours(2, 3)
    script.delegates = { [delegation.delegateId]: 'unknown' }
    expect(script.run(bring(2), data(2, batchAt([startMs], { delegate })))).toEqual(['resolve'])
    expect(script.run(data(2, batchAt([startMs], { chainId: 'own' })))).toContain('deliver 0')
    script.delegates = {}
    expect(script.run(resolved)).toEqual(['delegation 3', 'data 3', 'deliver 0'])
  })
})

it('waits for the answer about its own delegation, where its delegate has another', () => {
  const script = new CoreScript().withNeighbours(2, 3)
  const later = delegationOf({ fromMs: delegation.fromMs + 1 })
  const renewed = { identity: identityOf(8), delegation: later }
  script.delegates = { [delegation.delegateId]: 'unknown' }
  expect(script.run(bring(2), data(2, batchAt([startMs], { delegate })))).toEqual(['resolve'])
  const second = batchAt([startMs + 1], { delegate: renewed, chainId: 'second' })
  expect(script.run(bring(2, later), data(2, second))).toEqual(['resolve'])
  script.delegates = {}
  expect(script.run(resolved)).toEqual(['delegation 3', 'data 3', 'deliver 0'])
  expect(script.run({ ...resolved, delegation: later })).toEqual(['delegation 3', 'data 3', 'deliver 1'])
})

describe('a delegation that is forgotten while the registry is asked about it', () => {
  const junk = (i: number) => delegationOf({ requester: String(i) }, identityOf(9))
  /** A batch under it waits for the registry, and others have pushed it out meanwhile. */
  function waiting(): CoreScript {
    const script = new CoreScript({ maxDelegations: 3 }).withNeighbours(2, 3)
    script.delegates = { [delegation.delegateId]: 'unknown' }
    expect(script.run(bring(2), data(2, batchAt([startMs], { delegate })))).toEqual(['resolve'])
    for (let i = 0; i < 3; i++) script.run(bring(2, junk(i)))
    expect(script.core.delegations.get(refOf())).toBeUndefined()
    return script
  }

  it('is judged all the same, not as if its user had signed', () => {
    const script = waiting()
    script.delegates = { [delegation.delegateId]: 'denied' }
    expect(script.run(resolved)).toEqual(['dropped data.publisherDenied'])
    expect(script.delivered).toEqual([])
  })

  it('is known again once it is good, so that what is forwarded can be checked', () => {
    const script = waiting()
    script.delegates = {}
    expect(script.run(resolved)).toEqual(['delegation 3', 'data 3', 'deliver 0'])
  })
})

describe('delegations', () => {
  it('that the registry denies count one by one against who brings them', () => {
    const script = new CoreScript({ maxDeniedPublishers: 5 }).withNeighbours(2, 3)
    script.delegates = { [delegation.delegateId]: 'denied' }
    const lines: string[] = []
    for (let i = 0; i < 6; i++) {
      const denied = delegationOf({ requester: String(i) })
      const batch = batchAt([startMs + i], {
        delegate: { ...delegate, delegation: denied },
        chainId: String(i),
      })
      lines.push(...script.run(bring(2, denied), data(2, batch)))
    }
    expect(lines).toContain('disconnect 2 MISBEHAVED')
  })

  it('cost a signature check only when somebody who may publish uses them', () => {
    const script = new CoreScript().withNeighbours(2)
    script.policy = 'denied'
    for (let i = 0; i < 50; i++) script.run(bring(2, delegationOf({ requester: String(i) }, identityOf(9))))
    script.run(bring(2), data(2, batchAt([startMs], { delegate })))
    expect(script.delegationsVerified).toBe(0)
  })

  it('are taken for a peer again when they did not reach it', () => {
    const { delegations } = new CoreScript().withNeighbours(2).core
    const ref = delegations.add(delegation)
    expect(delegations.takeFor(idOf(2), ref)).toEqual(delegation)
    expect(delegations.takeFor(idOf(2), ref)).toBeUndefined()
    delegations.notSent(idOf(2), ref)
    delegations.notSent(idOf(3), ref)
    expect(delegations.takeFor(idOf(2), ref)).toEqual(delegation)
  })

  it('are remembered of peers that have a link, and of no others', () => {
    const script = new CoreScript().withNeighbours(2)
    const { delegations } = script.core
    const ref = delegations.add(delegation)
    expect(delegations.takeFor(idOf(2), ref)).toEqual(delegation)
    script.run(closed(2))
    for (let n = 2; n < 100; n++) {
      expect(delegations.takeFor(idOf(n), ref)).toEqual(delegation)
      expect(delegations.takeFor(idOf(n), ref)).toEqual(delegation)
      delegations.add(delegation, idOf(n))
      expect(delegations.takeFor(idOf(n), ref)).toEqual(delegation)
    }
  })

  it('are bounded: who brings most loses its own', () => {
    const script = new CoreScript({ maxDelegations: 10 }).withNeighbours(2, 3)
    script.run(bring(3))
    for (let i = 0; i < 100; i++) script.run(bring(2, delegationOf({ requester: String(i) })))
    expect(script.core.delegations.size).toBe(10)
    expect(script.core.delegations.get(refOf())).toEqual(delegation)
    expect(script.core.delegations.get(refOf(delegationOf({ requester: '99' })))).toBeDefined()
    expect(networkLimits.maxDelegations).toBeGreaterThanOrEqual(10_000)
  })
})

describe('a neighbour that acts for a user', () => {
  const acting = { userId: delegation.userId, delegation, untilMs: startMs + 60_000, isKeySigned: true }

  it('is attached by what its user may, for as long as its delegation lasts', () => {
    const script = new CoreScript()
    script.acting.set(idOf(2), acting)
    script.readsForMs = (userId) => (userId === idOf(2) ? 0 : Infinity)
    script.withNeighbours(2, 3)
    expect(script.attached()).toBe('2 3')
    const leftMs = acting.untilMs - script.wallMs
    expect(script.pass(leftMs - 1)).not.toContain('detach 2 not-permitted')
    expect(script.pass(2)).toContain('detach 2 not-permitted')
  })

  it('stays when its credential is renewed', () => {
    const script = new CoreScript()
    script.acting.set(idOf(2), acting)
    script.withNeighbours(2, 3)
    script.acting.set(idOf(2), { ...acting, untilMs: startMs + 300_000 })
    script.run({ type: 'credentialRenewed', peerId: idOf(2) })
    expect(script.pass(120_000)).not.toContain('detach 2 not-permitted')
    expect(script.pass(300_000)).toContain('detach 2 not-permitted')
  })

  it('is not attached to read by a delegation to publish, nor in another stream', () => {
    for (const changes of [{ reads: false }, { streams: [`${streamId}x` as typeof streamId] }]) {
      const script = new CoreScript().withNeighbours(3)
      script.acting.set(idOf(2), { ...acting, delegation: delegationOf(changes) })
      expect(script.run(opened(2), attach(2))).toContain('detach 2 not-permitted')
    }
  })

  it('feeds by a delegation to publish', () => {
    const script = new CoreScript().withNeighbours(3)
    script.acting.set(idOf(2), { ...acting, delegation: delegationOf({ reads: false }) })
    const feeds = control(2, {
      type: 'attach',
      ...{ streamPartId: partId, sinceMs: 0, heads: [] },
      membership: { reads: false, token: undefined },
    })
    script.run(opened(2), feeds)
    expect(script.run(bring(2), data(2, batchAt([startMs], { delegate })))).toContain('deliver 0')
  })
})
