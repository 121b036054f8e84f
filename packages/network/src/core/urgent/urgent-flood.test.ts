import { urgentExtensionOf, type MessageBatch, type UrgentFields } from '@runnel/protocol'
import { describe, expect, it } from 'vitest'
import {
  attach,
  batchAt,
  CoreScript,
  data,
  delegationOf,
  forged,
  identityOf,
  idOf,
  partId,
  publish,
  startMs,
  type BatchOptions,
} from '../core.testkit.ts'
import type { OverlayEvent } from '../events.ts'

const usual: UrgentFields = { lifetimeMs: 300, priority: 100, group: 0, object: 0, order: 'oldest' }

function urgentAt(ms: number, fields: Partial<UrgentFields> = {}, options: BatchOptions = {}): MessageBatch {
  const extensions = [urgentExtensionOf({ ...usual, ...fields })]
  return batchAt([startMs + ms], { chainId: '!c', extensions, ...options })
}

const urgent = (peer: number, batch: MessageBatch, remainingMs = 300): OverlayEvent => ({
  type: 'urgent',
  ...{ peerId: idOf(peer), batch, remainingMs },
})

const resolved: OverlayEvent = {
  type: 'publisherResolved',
  ...{ scope: urgentAt(0).chain.streamId, publisherId: urgentAt(0).chain.publisherId, found: true },
}

describe('an urgent message', () => {
  it('goes to all neighbours but the sender, with what is left of its time, and is delivered once', () => {
    const script = new CoreScript().withNeighbours(2, 3, 4)
    const batch = urgentAt(0)
    expect(script.run(urgent(2, batch, 120))).toEqual([
      'urgent 3 priority 100 left 120',
      'urgent 4 priority 100 left 120',
      'deliver 0',
    ])
    expect(script.run(urgent(3, batch, 290))).toEqual([])
    expect(script.core.counters).toMatchObject({ 'urgent.messages': 1, 'urgent.duplicates': 1 })
    expect([...script.core.streamParts].map(({ duplicates }) => duplicates)).toEqual([1])
  })

  it('of this process has its whole lifetime', () => {
    const script = new CoreScript().withNeighbours(2)
    const batch = urgentAt(0, { lifetimeMs: 500 })
    expect(script.run(publish(batch))).toEqual(['urgent 2 priority 100 left 500', 'deliver 0'])
    expect(script.run(urgent(2, batch))).toEqual([])
  })

  it('comes in any order, and nothing is missed, told, kept or looked for', () => {
    const script = new CoreScript({}, { hasArchive: true }).withNeighbours(2, 3)
    for (const ms of [50, 10, 90]) script.run(urgent(2, urgentAt(ms)))
    expect(script.delivered.map(({ timestamp }) => timestamp - startMs)).toEqual([50, 10, 90])
    expect(script.pass(60_000).filter((line) => !line.startsWith('status'))).toEqual([])
    const part = script.core.streamParts.get(partId)
    expect([part?.recent.size, part?.seen.chains]).toEqual([0, 0])
  })

  it('is dropped when its time is over, or when its timestamp is far from the clock', () => {
    const script = new CoreScript().withNeighbours(2, 3)
    expect(script.run(urgent(2, urgentAt(0), 0))).toEqual(['dropped urgent.late'])
    const [before, after] = [urgentAt(-301 - 5 * 60_000), urgentAt(1 + 5 * 60_000)]
    for (const batch of [before, after])
      expect(script.run(urgent(2, batch))).toEqual(['dropped urgent.timestamp'])
    expect(script.verified).toBe(0)
  })

  it('is taken for an ordinary one nowhere, nor the other way round', () => {
    const script = new CoreScript({}, { hasArchive: true }).withNeighbours(2, 3)
    const batch = urgentAt(0)
    expect(script.run(data(2, batch))).toEqual(['dropped urgent.asData'])
    const archived = { type: 'archived', batch, packet: batch.bytes } as const
    expect(script.run(archived)).toEqual(['dropped urgent.asData'])
    const two = batchAt([startMs, startMs + 1], { chainId: '!c' })
    expect(script.run(publish(two))).toEqual(['dropped urgent.refused'])
  })

  it('is checked before it leaves a trace', () => {
    const script = new CoreScript().withNeighbours(2, 3, 4)
    expect(script.run(urgent(2, forged(urgentAt(0))))).toContain('disconnect 2 MISBEHAVED')
    script.policy = 'denied'
    expect(script.run(urgent(3, urgentAt(1)))).toEqual(['dropped data.publisherDenied'])
    expect(script.run(urgent(9, urgentAt(4)))).toEqual(['dropped data.notAttached'])
  })

  it('is to be checked ahead once, from a neighbour, within the share of its publisher', () => {
    const script = new CoreScript({ maxUrgentPerS: 1 }).withNeighbours(2, 3)
    const signerOf = (peer: number, batch: MessageBatch) => script.core.signerOf(idOf(peer), batch)
    const [first, second] = [urgentAt(0), urgentAt(1)]
    expect(signerOf(2, first)).toBe(first.chain.publisherId)
    expect(signerOf(9, first)).toBeUndefined()
    script.run(urgent(2, first))
    expect([signerOf(3, first), signerOf(3, second)]).toEqual([undefined, undefined])
    script.nowMs += 1_000
    script.run(data(2, batchAt([startMs])))
    expect([signerOf(3, first), signerOf(3, second)]).toEqual([undefined, second.chain.publisherId])
  })

  it('waits while its publisher is looked up, and goes on with what is left of its time', () => {
    const script = new CoreScript().withNeighbours(2, 3, 4)
    script.policy = 'unknown'
    expect(script.run(urgent(2, urgentAt(0), 50))).toEqual(['resolve'])
    expect(script.run(urgent(2, urgentAt(1)))).toEqual([])
    const { verified } = script
    // Known as a copy by what it says.
    expect(script.run(urgent(3, urgentAt(1)))).toEqual([])
    expect(script.verified).toBe(verified)
    script.pass(100)
    script.policy = 'allowed'
    expect(script.run(resolved)).toEqual([
      'dropped urgent.late',
      'urgent 3 priority 100 left 200',
      'urgent 4 priority 100 left 200',
      'deliver 1',
    ])
    expect(script.run(resolved)).toEqual([])
    expect(script.run(urgent(4, urgentAt(1)))).toEqual([])
    expect(script.core.counters).toMatchObject({ 'urgent.messages': 1, 'urgent.duplicates': 2 })
  })

  it('is dropped when nobody can say who its publisher is, or it may not publish', () => {
    const script = new CoreScript().withNeighbours(2, 3)
    script.policy = 'unknown'
    script.run(urgent(2, urgentAt(0)))
    expect(script.run({ ...resolved, found: false })).toEqual(['dropped urgent.unresolved'])
    script.pass(1_000)
    expect(script.run(urgent(2, urgentAt(1_000)))).toEqual(['resolve'])
    script.policy = 'denied'
    expect(script.run(resolved)).toEqual(['dropped data.publisherDenied'])
  })

  it('waits in bounded memory, of which the neighbour that takes most gives way', () => {
    const size = urgentAt(0).bytes.length
    const script = new CoreScript({ maxHeldUrgentBytes: 3 * size }).withNeighbours(2, 3, 4)
    script.policy = 'unknown'
    script.run(urgent(3, urgentAt(0)))
    const crowd = [1, 2, 3].flatMap((ms) => script.run(urgent(2, urgentAt(ms))))
    expect(crowd).toEqual(['dropped urgent.unresolved'])
    script.policy = 'allowed'
    script.run(resolved)
    expect(script.delivered.map(({ timestamp }) => timestamp - startMs)).toEqual([0, 2, 3])
  })

  it('is let go when its time is over, where no answer comes', () => {
    const script = new CoreScript().withNeighbours(2, 3)
    script.policy = 'unknown'
    script.run(urgent(2, urgentAt(0)), urgent(2, urgentAt(1, { lifetimeMs: 60_000 }), 60_000))
    expect(script.pass(1_500)).toEqual(['dropped urgent.unresolved'])
    script.policy = 'allowed'
    expect(script.run(resolved)).toEqual(['urgent 3 priority 100 left 58500', 'deliver 1'])
    expect(script.pass(120_000)).toEqual([])
  })

  it('of a delegate goes with its delegation, which is asked for', () => {
    const script = new CoreScript().withNeighbours(2, 3)
    const delegation = delegationOf()
    const delegate = { identity: identityOf(8), delegation }
    const batch = urgentAt(0, {}, { delegate })
    expect(script.run(urgent(2, batch))).toEqual(['askDelegation 2', 'dropped data.delegationUnknown'])
    script.run({ type: 'control', peerId: idOf(2), packet: { type: 'delegation', delegation } })
    expect(script.run(urgent(2, batch))).toEqual([
      'delegation 3',
      'urgent 3 priority 100 left 300',
      'deliver 0',
    ])
  })

  it('is not passed on by a light node', () => {
    const script = new CoreScript({}, { isLight: true })
    script.run({ type: 'join', streamPartId: partId, fillGaps: true, reads: true })
    script.run({ type: 'useHosts', hosts: [idOf(2), idOf(3)] })
    for (const host of [2, 3]) script.run({ type: 'linkOpened', peerId: idOf(host) }, attach(host))
    expect(script.run(urgent(2, urgentAt(0)))).toEqual(['deliver 0'])
    expect(script.run(publish(urgentAt(1)))).toEqual([
      'urgent 2 priority 100 left 300',
      'urgent 3 priority 100 left 300',
      'deliver 1',
    ])
  })
})

describe('the share of a publisher', () => {
  it('bounds its messages and its bytes, and leaves those of others', () => {
    const script = new CoreScript({ maxUrgentPerS: 3 }).withNeighbours(2, 3)
    const delivered = (batch: MessageBatch): boolean =>
      script.run(urgent(2, batch)).some((line) => line.startsWith('deliver'))
    expect([0, 1, 2, 3, 4].map((ms) => delivered(urgentAt(ms)))).toEqual([true, true, true, false, false])
    expect(delivered(urgentAt(0, {}, { publisher: identityOf(9) }))).toBe(true)
    script.nowMs += 1000
    expect(delivered(urgentAt(5))).toBe(true)
    const small = new CoreScript({ maxUrgentBytesPerS: 300 }).withNeighbours(2)
    expect(small.run(urgent(2, urgentAt(0)))).toEqual(['deliver 0'])
    expect(small.run(urgent(2, urgentAt(1)))).toEqual(['dropped urgent.overShare'])
  })

  it('is not used up by what others forge', () => {
    const script = new CoreScript({ maxUrgentPerS: 2 }).withNeighbours(2, 3)
    script.run(urgent(2, forged(urgentAt(0))), urgent(2, forged(urgentAt(1))))
    expect(script.run(urgent(3, urgentAt(2)))).toContain('deliver 2')
    expect(script.run(urgent(3, urgentAt(3)))).toContain('deliver 3')
  })

  it('of the first priorities is small: what goes beyond it is like all others', () => {
    const script = new CoreScript({ maxFirstBytesPerS: 420 }).withNeighbours(2, 3)
    const priorityOf = (ms: number, priority: number): string | undefined =>
      script.run(urgent(2, urgentAt(ms, { priority })))[0]
    expect(priorityOf(0, 0)).toBe('urgent 3 priority 0 left 300')
    expect(priorityOf(1, 0)).toBe('urgent 3 priority 0 left 300')
    expect(priorityOf(2, 63)).toBe('urgent 3 priority 128 left 300')
    expect(priorityOf(3, 64)).toBe('urgent 3 priority 64 left 300')
    expect(script.core.counters['urgent.demoted']).toBe(1)
  })

  it('has so many chains and places, and nothing that was forgotten comes twice', () => {
    const script = new CoreScript({ maxUrgentChains: 2, maxUrgentPlaces: 2 }).withNeighbours(2, 3)
    for (const chainId of ['!a', '!b']) script.run(urgent(2, urgentAt(0, {}, { chainId })))
    expect(script.run(urgent(2, urgentAt(0, {}, { chainId: '!c' })))).toEqual(['dropped urgent.overShare'])
    for (const ms of [1, 2, 3]) script.run(urgent(2, urgentAt(ms, {}, { chainId: '!a' })))
    for (const ms of [0, 1, 2, 3]) {
      const lines = script.run(urgent(3, urgentAt(ms, {}, { chainId: '!a' })))
      expect(lines.filter((line) => !line.startsWith('thin'))).toEqual([])
    }
    expect(script.core.counters['urgent.duplicates']).toBe(4)
  })

  it('is taken of the next process of a publisher, however many it had before', () => {
    const script = new CoreScript({ maxUrgentChains: 2 }).withNeighbours(2, 3)
    for (const chainId of ['!a', '!b']) script.run(urgent(2, urgentAt(0, {}, { chainId })))
    const laterMs = 12 * 60_000
    script.nowMs += laterMs
    expect(script.run(urgent(2, urgentAt(laterMs, {}, { chainId: '!c' })))).toContain(`deliver ${laterMs}`)
    const again = script.run(urgent(3, urgentAt(laterMs, {}, { chainId: '!c' })))
    expect(again.filter((line) => !line.startsWith('thin'))).toEqual([])
  })

  it('is for so many publishers at once, until some have been silent for long', () => {
    const script = new CoreScript({ maxUrgentPublishers: 1 }).withNeighbours(2, 3)
    script.run(urgent(2, urgentAt(0)))
    const other = { publisher: identityOf(9) }
    expect(script.run(urgent(2, urgentAt(0, {}, other)))).toEqual(['dropped urgent.overShare'])
    const laterMs = 12 * 60_000
    script.nowMs += laterMs
    expect(script.run(urgent(2, urgentAt(laterMs, {}, other)))).toContain(`deliver ${laterMs}`)
  })
})
