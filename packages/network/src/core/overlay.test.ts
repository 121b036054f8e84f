import { toStreamPartId } from '@runnel/protocol'
import { describe, expect, it } from 'vitest'
import {
  attach,
  batchAt,
  closed,
  contact,
  CoreScript,
  data,
  detach,
  forged,
  idOf,
  identityOf,
  instruct,
  join,
  leave,
  opened,
  partId,
  publish,
  startMs,
  streamId,
} from './core.testkit.ts'
import { networkLimits } from '../limits.ts'
import type { LostConnection, OverlayEvent } from './events.ts'

const otherPartId = toStreamPartId(streamId, 1)
/** There is a tracker again after the connection to one was lost. */
const back = (lost: LostConnection, streamPartId = partId): OverlayEvent => ({
  type: 'trackerSession',
  streamPartId,
  lost,
})

describe('joining', () => {
  it('asks the tracker, opens links, attaches, and reports once when all are attached', () => {
    const script = new CoreScript()
    expect(script.run(join)).toEqual(['status'])
    expect(script.status()).toBe('#0 [] failed []')
    expect(script.run(instruct(1, 2, 3))).toEqual(['connect 2', 'connect 3'])
    expect(script.run(opened(2))).toEqual(['attach 2'])
    expect(script.run(attach(2))).toEqual(['neighbours [2]'])
    expect(script.run(opened(3), attach(3))).toEqual(['attach 3', 'neighbours [2 3]', 'status'])
    expect(script.status()).toBe('#1 [2 3] failed []')
  })

  it('reports after a while when not all are attached, and once more when they are', () => {
    const script = new CoreScript()
    script.run(join, instruct(1, 2, 3), opened(2), attach(2))
    expect(script.pass(1_000)).toEqual(['status'])
    expect(script.status()).toBe('#1 [2] failed []')
    expect(script.run(opened(3), attach(3))).toEqual(['attach 3', 'neighbours [2 3]', 'status'])
  })

  it('ignores instructions that are not newer, until the session is new', () => {
    const script = new CoreScript().withNeighbours(2)
    expect(script.run(instruct(1, 3))).toEqual(['dropped instruction.stale'])
    // After it every tracker would refuse what this node reports.
    expect(script.run(instruct(2 ** 48 + 1, 3))).toEqual(['dropped instruction.stale'])
    expect(script.status()).toMatch(/^#1 /)
    script.run({ type: 'trackerSession', streamPartId: partId })
    expect(script.run(instruct(1, 2, 3))).toEqual(['connect 3'])
  })

  it('never takes itself for a neighbour', () => {
    expect(new CoreScript().run(join, instruct(1, 1))).toEqual(['status', 'status', 'neighbours []'])
  })

  it('tells everybody when it leaves, and drops what still comes', () => {
    const script = new CoreScript().withNeighbours(2, 3)
    expect(script.run(leave)).toEqual(['detach 2 left', 'detach 3 left', 'neighbours []'])
    expect(script.run(data(2, batchAt([startMs])))).toEqual(['dropped data.notJoined'])
    expect(script.status()).toBe('not joined')
  })

  it('closes links that no stream part uses, a while later', () => {
    const script = new CoreScript().withNeighbours(2)
    script.run(leave)
    expect(script.pass(9_999)).toEqual([])
    expect(script.pass(1)).toEqual(['disconnect 2 UNUSED'])
  })
})

describe('changing neighbours', () => {
  it('makes before it breaks', () => {
    const script = new CoreScript().withNeighbours(2, 3)
    expect(script.run(instruct(2, 3, 4))).toEqual(['connect 4'])
    expect(script.attached()).toBe('2 3')
    expect(script.run(opened(4))).toEqual(['attach 4'])
    expect(script.run(attach(4))).toEqual(['neighbours [2 3 4]', 'status'])
    // Its round-trip time is not known: it may not have heard yet that it is attached.
    expect(script.pass(2 * networkLimits.attachRetryMs)).toEqual(['detach 2 replaced'])
    expect(script.attached()).toBe('2 3 4')
    expect(script.run(detach(2, 'replaced'))).toEqual(['neighbours [3 4]'])
  })

  it('keeps a neighbour that can do without it until it can do without the neighbour', () => {
    const script = new CoreScript().withNeighbours(2, 3)
    script.rttMs = 50
    expect(script.run(detach(2, 'replaced'), instruct(2, 3, 4), opened(4))).toEqual(['connect 4', 'attach 4'])
    expect(script.run(attach(4))).toEqual(['neighbours [2 3 4]', 'status'])
    expect(script.pass(100)).toEqual(['detach 2 replaced', 'neighbours [3 4]'])
  })

  it('attaches again to a neighbour it told to do without it', () => {
    const script = new CoreScript().withNeighbours(2)
    script.run(instruct(2, 3), opened(3), attach(3))
    expect(script.pass(2 * networkLimits.attachRetryMs)).toEqual(['detach 2 replaced'])
    expect(script.run(instruct(3, 2, 3))).toEqual(['attach 2', 'status'])
    // The peer had agreed already, and made a new edge when our attach came.
    expect(script.run(detach(2, 'replaced'), attach(2))).toEqual([])
    expect(script.attached()).toBe('2 3')
  })

  it('breaks all the same when the replacement takes too long', () => {
    const script = new CoreScript().withNeighbours(2)
    script.run(instruct(2, 3))
    expect(script.pass(networkLimits.retireMs)).toEqual(['status', 'detach 2 not-wanted', 'neighbours []'])
  })

  it('reports a lost neighbour at once and dials it again while it is wanted', () => {
    const script = new CoreScript().withNeighbours(2, 3)
    expect(script.lostNeighbours).toBe(0)
    expect(script.run(closed(2))).toEqual(['status', 'neighbours [3]'])
    expect(script.lostNeighbours).toBe(1)
    expect(script.status()).toBe('#1 [3] failed [2:lost]')
    expect(script.status()).toBe('#1 [3] failed []')
    expect(script.pass(500)).toEqual(['connect 2'])
  })

  it('waits longer after each failed dial and reports each', () => {
    const script = new CoreScript()
    script.run(join, instruct(1, 2))
    const fail = { type: 'linkFailed', peerId: idOf(2), reason: 'timeout' } as const
    expect(script.run(fail)).toEqual(['status'])
    expect(script.status()).toBe('#1 [] failed [2:timeout]')
    expect([script.pass(499), script.pass(1)]).toEqual([[], ['connect 2']])
    script.run(fail)
    expect([script.pass(999).includes('connect 2'), script.pass(1)]).toEqual([false, ['connect 2']])
  })

  it('reports a neighbour that never answers the attach', () => {
    const script = new CoreScript()
    script.run(join, instruct(1, 2), opened(2))
    script.pass(1_000)
    expect(script.pass(9_000).filter((line) => line !== 'attach 2')).toEqual(['status'])
    expect(script.status()).toBe('#1 [] failed [2:timeout]')
  })

  it('reports it again to the next tracker', () => {
    const script = new CoreScript()
    script.run(join, instruct(1, 2), opened(2))
    script.pass(10_000)
    expect(script.status()).toBe('#1 [] failed [2:timeout]')
    script.run({ type: 'trackerSession', streamPartId: partId })
    expect(script.status()).toBe('#1 [] failed []')
    script.run(instruct(1, 2))
    script.pass(1_000)
    expect(script.status()).toBe('#1 [] failed [2:timeout]')
  })

  it('dials anew who has no link when the connection to the tracker is back, as signals may be lost', () => {
    const script = new CoreScript()
    script.run(join, instruct(1, 2, 3, 4), opened(2), attach(2))
    // It waits for its next attempt.
    script.run({ type: 'linkFailed', peerId: idOf(4), reason: 'unreachable' })
    script.pass(100)
    expect(script.run(back('this'))).toEqual(['connect 3 again'])
    script.pass(10)
    // The peer named now may have offered before this node knew of it.
    expect(script.run(instruct(1, 2, 3, 4, 5))).toEqual(['connect 5 again'])
    expect(script.run(instruct(2, 2, 3, 4, 5, 6))).toEqual(['connect 6'])
  })

  it('dials them anew once more where the first instruction takes long: the tracker may have forgotten this node', () => {
    const script = new CoreScript()
    script.run(join, instruct(1, 2, 3))
    script.pass(100)
    expect(script.run(back('this'))).toEqual(['connect 2 again', 'connect 3 again'])
    expect(script.run(opened(2), attach(2))).toEqual(['attach 2', 'neighbours [2]'])
    script.pass(networkLimits.minBackoffMs + 1)
    expect(script.run(instruct(1, 2, 3))).toEqual(['connect 3 again'])
    script.pass(networkLimits.minBackoffMs + 1)
    expect(script.run(instruct(2, 2, 3))).toEqual([])
  })

  it('dials them anew when another tracker has named them, which passes on no signals before', () => {
    const script = new CoreScript()
    script.run(join, instruct(1, 2))
    script.pass(100)
    expect(script.run(back('other'))).toEqual([])
    // One that redirects names nobody.
    expect(script.run({ type: 'trackerSession', streamPartId: partId })).toEqual([])
    expect(script.run(instruct(1, 2))).toEqual(['connect 2 again'])
  })

  it('dials a peer anew once, however many stream parts have their tracker back', () => {
    const script = new CoreScript()
    const instructOther = { ...instruct(1, 2) } as OverlayEvent & { type: 'instruction' }
    const other = { instruction: { ...instructOther.instruction, streamPartId: otherPartId } }
    const both = [instruct(1, 2), { ...instructOther, ...other }] as const
    script.run(join, { ...join, streamPartId: otherPartId }, ...both)
    script.pass(100)
    expect(script.run(back('other'), back('other', otherPartId))).toEqual([])
    script.pass(10)
    expect(script.run(...both)).toEqual(['connect 2 again'])
  })

  it('tells nothing of a transport that has no number', () => {
    const script = new CoreScript().withNeighbours(2)
    expect(script.core.takeStatus(partId, script.nowMs)?.neighbours).toEqual([
      { nodeId: idOf(2), rttMs: undefined },
    ])
  })
})

describe('attaches', () => {
  it('of a peer whose order has not come yet are accepted for a while', () => {
    const script = new CoreScript()
    script.run(join, opened(2))
    expect(script.run(attach(2))).toEqual(['attach 2', 'neighbours [2]'])
    expect(script.pass(4_999)).toEqual([])
    expect(script.pass(1)).toEqual(['detach 2 not-wanted', 'neighbours []'])
    expect(script.run(attach(2))).toEqual(['dropped attach.refused', 'detach 2 not-wanted'])
    expect(script.run(instruct(1, 2))).toEqual(['attach 2'])
  })

  it('are kept when the order comes', () => {
    const script = new CoreScript()
    script.run(join, opened(2), attach(2))
    expect(script.run(instruct(1, 2))).toEqual(['status'])
    expect(script.pass(20_000)).toEqual([])
  })

  it('of peers nobody ordered are few', () => {
    const script = new CoreScript({ maxProvisional: 2 })
    script.run(join)
    for (const peer of [2, 3, 4]) script.run(opened(peer), attach(peer))
    expect(script.attached()).toBe('2 3')
    expect(script.core.counters['attach.full']).toBe(1)
  })

  it('for a stream part that is not joined are refused, and leave nothing behind', () => {
    const script = new CoreScript()
    script.run(opened(2))
    expect(script.run(attach(2))).toEqual(['detach 2 not-joined'])
    expect(script.core.streamParts.ids).toEqual([])
  })

  it('that are refused are reported when the peer has not joined', () => {
    const script = new CoreScript()
    script.run(join, instruct(1, 2), opened(2))
    expect(script.run(detach(2, 'not-joined'))).toContain('status')
    expect(script.status()).toBe('#1 [] failed [2:refused]')
  })

  it.each(['left', 'not-joined'] as const)('do not go to a peer that said %s before it is back', (reason) => {
    const script = new CoreScript().withNeighbours(2, 3)
    expect(script.run(detach(2, reason))).toContain('status')
    expect(script.lostNeighbours).toBe(1)
    // Not even over a new link, with all trackers gone.
    expect(script.pass(20_000).filter((effect) => effect.startsWith('attach'))).toEqual([])
    expect(script.run(closed(2)).filter((effect) => effect.startsWith('connect'))).toEqual([])
    expect(script.run(opened(2), attach(2))).toContain('attach 2')
    expect(script.attached()).toBe('3 2')
    script.run(detach(2, reason))
    expect(script.run(instruct(9, 2, 3))).toEqual(expect.arrayContaining(['attach 2']))
  })

  it('that are refused because the order has not come there yet are tried again, then reported', () => {
    const script = new CoreScript()
    script.run(join, instruct(1, 2), opened(2))
    expect(script.run(detach(2, 'not-wanted'))).toEqual([])
    expect(script.pass(500)).toEqual(['attach 2'])
    expect(script.run(detach(2, 'not-wanted'))).toEqual(['status'])
  })

  it('are repeated until they are answered', () => {
    const script = new CoreScript()
    script.run(join, instruct(1, 2), opened(2))
    script.status()
    expect([script.pass(999), script.pass(1)]).toEqual([[], ['attach 2', 'status']])
    expect(script.pass(1_000)).toEqual(['attach 2'])
    expect(script.run(attach(2))).toEqual(['neighbours [2]', 'status'])
    expect(script.pass(2_000)).toEqual([])
  })

  it('that come again are answered again, but not for ever', () => {
    const script = new CoreScript().withNeighbours(2)
    script.run(publish(batchAt([startMs])))
    script.pass(1_000)
    const again = script.run(attach(2, 5_000))
    expect(again).toEqual(['attach 2', 'data 2'])
    expect(script.run(attach(2, 5_000))).toEqual([])
    expect(script.core.counters['attach.repeated']).toBe(2)
  })

  it('get what came lately, once, and not again at once', () => {
    const script = new CoreScript().withNeighbours(2)
    script.run(publish(batchAt([startMs])), publish(batchAt([startMs + 1], { previous: at(0) })))
    script.run(instruct(2, 2, 3), opened(3))
    expect(script.run(attach(3, 100))).toEqual(['neighbours [2 3]', 'status', 'data 3', 'data 3'])
    expect(script.run(attach(3, 100))).toEqual([])
    script.run(detach(3, 'not-wanted'))
    expect(script.run(attach(3, 100))).toEqual(['attach 3', 'neighbours [2 3]'])
    expect(script.core.counters['replay.refused']).toBe(1)
  })
})

describe('flooding', () => {
  it('marks, forwards to all but the sender, delivers; and then stops copies unverified', () => {
    const script = new CoreScript().withNeighbours(2, 3, 4)
    const batch = batchAt([startMs, startMs + 1])
    expect(script.run(data(2, batch))).toEqual(['data 3', 'data 4', 'deliver 0', 'deliver 1'])
    expect(script.run(data(3, batch), data(4, batch))).toEqual([])
    expect(script.verified).toBe(1)
    expect(script.core.counters['data.duplicates']).toBe(4)
  })

  it('delivers of a batch only what is new, and forwards it whole', () => {
    const script = new CoreScript().withNeighbours(2, 3)
    script.run(data(2, batchAt([startMs])))
    expect(script.run(data(2, batchAt([startMs, startMs + 1])))).toEqual(['data 3', 'deliver 1'])
  })

  it('floods and delivers what this node publishes', () => {
    const script = new CoreScript().withNeighbours(2, 3)
    expect(script.run(publish(batchAt([startMs])))).toEqual(['data 2', 'data 3', 'deliver 0'])
    expect(script.run(data(2, batchAt([startMs])))).toEqual([])
  })

  it('drops what comes from a peer that is no neighbour, and lets go of one that goes on', () => {
    const script = new CoreScript({ maxUselessData: 2 })
    const batch = batchAt([startMs])
    script.run(join, opened(2))
    expect(script.run(data(2, batch))).toEqual(['dropped data.notAttached'])
    script.pass(5_000)
    script.run(data(2, batch), data(2, batch))
    expect(script.run(data(2, batch))).toEqual([
      'dropped data.notAttached',
      'dropped peers.misbehaved',
      'disconnect 2 MISBEHAVED',
    ])
  })

  it('holds nothing against a neighbour that has not heard of its detach yet, as the link is slow', () => {
    const script = new CoreScript({ maxUselessData: 0 }).withNeighbours(2, 3)
    script.queuedBytes = 1
    expect(script.run(leave)).toContain('detach 2 left')
    for (let s = 0; s < 50; s++) {
      expect(script.run(data(2, batchAt([startMs + s])))).toEqual(['dropped data.notJoined'])
      script.nowMs += 1_000
    }
    script.queuedBytes = 0
    script.nowMs += 10_000
    // Then comes what waited there.
    expect(script.run(data(2, batchAt([startMs])))).toEqual(['dropped data.notJoined'])
  })

  it('is not told by detaches that a peer asks for that what it sends may be under way', () => {
    const script = new CoreScript({ maxUselessData: 2 })
    script.run(opened(2))
    script.pass(5_000)
    const lines = [1, 2, 3].flatMap((n) => script.run(attach(2), data(2, batchAt([startMs + n]))))
    expect(lines).toContain('detach 2 not-joined')
    expect(lines.at(-1)).toBe('disconnect 2 MISBEHAVED')
  })

  it('does not hold against a wanted neighbour what overtakes its attach, as urgent and lossy packets may', () => {
    const script = new CoreScript({ maxUselessData: 2 })
    script.run(join, instruct(1, 2), opened(2))
    script.pass(5_000)
    const early = Array.from({ length: 10 }, (_, i) => data(2, batchAt([startMs + i])))
    expect(script.run(...early)).toEqual(early.map(() => 'dropped data.notAttached'))
    script.run(attach(2))
    expect(script.attached()).toBe('2')
    expect(script.run(data(2, batchAt([script.wallMs])))).toContain('deliver 5000')
  })

  it('holds nothing against a neighbour whose own detach overtakes what it sent before, by a lane or a connection that is replaced', () => {
    const script = new CoreScript({ maxUselessData: 2 }).withNeighbours(2, 3)
    script.pass(5_000)
    script.run(detach(2, 'left'))
    const late = Array.from({ length: 10 }, (_, i) => data(2, batchAt([startMs + i])))
    expect(script.run(...late)).toEqual(late.map(() => 'dropped data.notAttached'))
  })

  it('is not told by detaches of a peer that never was a neighbour that what it sends may be under way', () => {
    const script = new CoreScript({ maxUselessData: 2 })
    script.run(join, opened(2))
    script.pass(5_000)
    const lines = [1, 2, 3].flatMap((n) => script.run(detach(2, 'left'), data(2, batchAt([startMs + n]))))
    expect(lines.at(-1)).toBe('disconnect 2 MISBEHAVED')
  })

  it('a forged message with a far-future timestamp does not silence the real publisher', () => {
    const script = new CoreScript().withNeighbours(2, 3)
    const farFuture = startMs + 10 * 365 * 86_400_000
    const liar = identityOf(9)
    script.run(data(2, batchAt([startMs])))
    const lies = batchAt([farFuture], { publisher: liar })
    const asPublisher = { ...lies, chain: { ...lies.chain, publisherId: identityOf(7).nodeId } }
    expect(script.run(data(2, asPublisher))).toEqual(['dropped data.timestampAhead'])
    const soon = batchAt([startMs + 60_000], { publisher: liar })
    const forgedSoon = { ...soon, chain: { ...soon.chain, publisherId: identityOf(7).nodeId } }
    expect(script.run(data(2, forgedSoon))[0]).toBe('dropped data.forged')
    const real = Array.from({ length: 200 }, (_, i) => batchAt([startMs + 1 + i], { previous: at(i) }))
    for (const batch of real) script.run(data(3, batch))
    expect(script.delivered).toHaveLength(201)
  })

  it('closes the link a forged message came on, reports the neighbour, and keeps away from it', () => {
    const script = new CoreScript().withNeighbours(2, 3)
    expect(script.run(data(2, forged(batchAt([startMs]))))).toEqual([
      'dropped data.forged',
      'dropped peers.misbehaved',
      'disconnect 2 MISBEHAVED',
      'status',
      'neighbours [3]',
    ])
    expect(script.status()).toBe('#1 [3] failed [2:misbehaved]')
    expect(script.run(opened(2))).toEqual(['disconnect 2 MISBEHAVED'])
    expect(script.run(instruct(2, 2, 3))).toEqual(['status'])
    expect(script.status()).toBe('#2 [3] failed [2:misbehaved]')
    expect(script.pass(59_000).includes('connect 2')).toBe(false)
    expect(script.pass(1_000)).toContain('connect 2')
  })

  it('comes back to a banned neighbour in time, though an application dialled it meanwhile', () => {
    const script = new CoreScript().withNeighbours(2, 3)
    script.run(data(2, forged(batchAt([startMs]))), closed(2))
    const hold: OverlayEvent = { type: 'hold', peerId: idOf(2), contact }
    expect(script.run(hold)).toEqual(['connect 2 alone'])
    expect(script.run(opened(2))[0]).toBe('disconnect 2 MISBEHAVED')
    script.run(closed(2), { type: 'unhold', peerId: idOf(2) })
    expect(script.pass(59_000)).not.toContain('connect 2')
    expect(script.pass(1_000)).toContain('connect 2')
  })

  it('takes timestamps up to the tolerance', () => {
    const script = new CoreScript().withNeighbours(2)
    expect(script.run(data(2, batchAt([startMs + 300_001])))).toEqual(['dropped data.timestampAhead'])
    expect(script.run(data(2, batchAt([startMs + 300_000])))).toEqual(['deliver 300000'])
  })

  it('drops what is too old to be live, and asks nobody for what was before it', () => {
    const script = new CoreScript({}, { hasArchive: true }).withNeighbours(2, 3)
    const yearMs = 365 * 86_400_000
    const old = batchAt([startMs - yearMs])
    expect(script.run(data(2, old))).toEqual(['dropped data.tooOld'])
    expect([script.core.counters['data.tooOld'], script.verified]).toEqual([1, 0])
    expect(script.run(data(2, batchAt([startMs], { previous: at(-yearMs) })))).toEqual([
      'data 3',
      'deliver 0',
    ])
    script.pass(60_000)
    expect(script.archiveGaps).toEqual([])
  })

  it('takes what fills an open gap, however old it is', () => {
    const script = new CoreScript().withNeighbours(2, 3)
    script.run(data(2, batchAt([startMs])))
    script.nowMs += 3_600_000
    script.run(data(2, batchAt([startMs + 3_600_000], { previous: at(1_000) })))
    expect(script.run(data(3, batchAt([startMs + 1_000], { previous: at(0) })))).toEqual([
      'data 2',
      'deliver 1000',
    ])
  })

  it('drops what a publisher may not publish, without marking it', () => {
    const script = new CoreScript().withNeighbours(2, 3)
    script.policy = 'denied'
    expect(script.run(data(2, batchAt([startMs])))).toEqual(['dropped data.publisherDenied'])
    script.policy = 'allowed'
    expect(script.run(data(3, batchAt([startMs])))).toEqual(['data 2', 'deliver 0'])
  })

  it('holds messages of an unknown publisher until it is known', () => {
    const script = new CoreScript().withNeighbours(2, 3)
    const [first, second] = [batchAt([startMs]), batchAt([startMs + 1], { previous: at(0) })]
    script.policy = 'unknown'
    expect(script.run(data(2, first), data(2, second), data(3, first))).toEqual(['resolve'])
    script.policy = 'allowed'
    expect(script.run(resolved(true))).toEqual(['data 3', 'deliver 0', 'data 3', 'deliver 1'])
    expect(script.run(data(3, first))).toEqual([])
  })

  it('drops what is older than the stream, also when it had to wait for the answer', () => {
    const script = new CoreScript().withNeighbours(2, 3)
    script.oldestOfStreamMs = startMs
    const older = batchAt([startMs - 1, startMs])
    expect(script.run(data(2, older))).toEqual(['dropped data.publisherDenied'])
    script.oldestOfStreamMs = 0
    script.policy = 'unknown'
    expect(script.run(data(2, older), data(2, batchAt([startMs + 1])))).toEqual(['resolve'])
    script.policy = 'allowed'
    script.oldestOfStreamMs = startMs
    expect(script.run(resolved(true))).toEqual(['dropped data.publisherDenied', 'data 3', 'deliver 1'])
  })

  it('asks again when nobody could find out, ever more rarely', () => {
    const script = new CoreScript({ minLookupRetryMs: 250, maxLookupRetryMs: 500 }).withNeighbours(2, 3)
    script.policy = 'unknown'
    script.run(data(2, batchAt([startMs])))
    for (const pauseMs of [250, 500, 500]) {
      expect(script.run(resolved(false))).toEqual([])
      expect(script.pass(pauseMs - 1)).toEqual([])
      expect(script.pass(1)).toEqual(['resolve'])
    }
    script.policy = 'allowed'
    expect(script.run(resolved(true))).toEqual(['data 3', 'deliver 0'])
  })

  it('asks again when what was found is out of date already', () => {
    const script = new CoreScript().withNeighbours(2)
    script.policy = 'unknown'
    script.run(data(2, batchAt([startMs])))
    expect(script.run(resolved(true))).toEqual([])
    expect(script.pass(1_000)).toEqual(['resolve'])
  })

  it('drops held messages when nobody could find out for long', () => {
    const script = new CoreScript({ maxHeldMs: 2_000 }).withNeighbours(2)
    script.policy = 'unknown'
    script.run(data(2, batchAt([startMs])), resolved(false))
    script.pass(2_000)
    expect(script.run(resolved(false))).toEqual(['dropped held.unresolved'])
  })

  it('holds only so much', () => {
    const script = new CoreScript({ maxHeldBatches: 2, maxHeldPublishers: 1 }).withNeighbours(2)
    script.policy = 'unknown'
    script.run(data(2, batchAt([startMs])))
    expect(script.run(data(2, batchAt([startMs], { publisher: identityOf(8) })))).toEqual([
      'dropped held.refused',
    ])
    expect(script.run(data(2, batchAt([startMs + 1])), data(2, batchAt([startMs + 2])))).toEqual([
      'dropped held.refused',
    ])
  })

  it('looks new publishers up for one neighbour while another brings more than there is room for', () => {
    const script = new CoreScript({ maxHeldPublishers: 64, maxHeldBatches: 64 }).withNeighbours(2, 3)
    script.policy = 'unknown'
    const publishers = Array.from({ length: 130 }, (_, i) => identityOf(100 + i))
    for (const publisher of publishers.slice(0, 100)) script.run(data(2, batchAt([startMs], { publisher })))
    expect(script.core.counters['held.refused']).toBe(36)
    const honest = publishers.slice(100).map((publisher) => batchAt([startMs], { publisher }))
    for (const batch of honest)
      expect(script.run(data(3, batch))).toEqual(['dropped held.refused', 'resolve'])
    script.policy = 'allowed'
    for (const { chain } of honest)
      expect(script.run({ ...resolved(true), publisherId: chain.publisherId })).toEqual([
        'data 2',
        'deliver 0',
      ])
  })

  it('lets go of a neighbour that brings ever new publishers who may not publish', () => {
    const script = new CoreScript({ maxDeniedPublishers: 2 }).withNeighbours(2, 3)
    script.policy = 'denied'
    const brought = [8, 9, 8, 9, 10].map((key, i) => batchAt([startMs + i], { publisher: identityOf(key) }))
    for (const batch of brought.slice(0, 4))
      expect(script.run(data(2, batch))).toEqual(['dropped data.publisherDenied'])
    for (const batch of brought) script.run(data(3, brought[0] ?? batch))
    expect(script.attached()).toBe('2 3')
    expect(script.run(...brought.slice(4).map((batch) => data(2, batch)))).toContain(
      'disconnect 2 MISBEHAVED',
    )
    expect(script.attached()).toBe('3')
  })

  it('and of one for which they had to be looked up', () => {
    const script = new CoreScript({ maxDeniedPublishers: 2 }).withNeighbours(2, 3)
    for (const key of [8, 9, 10]) {
      script.policy = 'unknown'
      script.run(data(2, batchAt([startMs], { publisher: identityOf(key) })))
      script.policy = 'denied'
      script.run({ ...resolved(true), publisherId: identityOf(key).nodeId })
    }
    expect(script.attached()).toBe('3')
  })

  it('does not deliver or forward twice what many chains of one publisher pushed out', () => {
    const script = new CoreScript({ maxChains: 5 }).withNeighbours(2, 3)
    const honest = batchAt([startMs], { publisher: identityOf(8) })
    const chains = Array.from({ length: 20 }, (_, i) => batchAt([startMs + i], { chainId: `${i}` }))
    script.run(data(2, honest), ...chains.map((batch) => data(2, batch)))
    expect(script.delivered).toHaveLength(21)
    expect(script.run(data(3, honest))).toEqual([])
    const lines = script.run(...chains.map((batch) => data(3, batch)))
    expect(lines).toEqual(chains.slice(0, 16).map(() => 'dropped data.forgotten'))
    expect(script.delivered).toHaveLength(21)
  })
})

const at = (offsetMs: number) => ({ timestamp: startMs + offsetMs, sequenceNumber: 0 })
const resolved = (found: boolean) =>
  ({
    type: 'publisherResolved',
    scope: batchAt([startMs]).chain.streamId,
    publisherId: identityOf(7).nodeId,
    found,
  }) as const
