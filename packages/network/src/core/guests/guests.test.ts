import { toStreamPartId, type StreamPartId } from '@runnel/protocol'
import { describe, expect, it } from 'vitest'
import { networkLimits, type NetworkLimits } from '../../limits.ts'
import {
  attach,
  batchAt,
  closed,
  control,
  CoreScript,
  data as dataOf,
  idOf,
  identityOf,
  instruct,
  join,
  leave,
  opened,
  partId,
  startMs,
  streamId,
} from '../core.testkit.ts'
import type { OverlayEvent } from '../events.ts'

const guestAttach = (peer: number, streamPartId: StreamPartId = partId, reads = true): OverlayEvent =>
  control(peer, {
    ...{ type: 'guestAttach', streamPartId, sinceMs: 1, heads: [] },
    ...(reads ? {} : { membership: { reads, token: undefined } }),
  })
const data = (peer: number, batch = batchAt([startMs])): OverlayEvent => dataOf(peer, batch)
const part = (n: number) => toStreamPartId(streamId, n)
const host = (limits: Partial<NetworkLimits> = {}) => new CoreScript(limits, { servesGuests: true })

describe('a host', () => {
  it('sends a guest what comes, and takes what it sends, without its being a neighbour', () => {
    const script = host()
    script.run(join, instruct(1, 2), opened(2), attach(2), opened(9))
    expect(script.run(guestAttach(9))).toEqual(['attach 9'])
    expect(script.run(data(2))).toContain('data 9')
    expect(script.run(data(9, batchAt([startMs], { publisher: identityOf(9) })))).toContain('data 2')
    const status = script.core.takeStatus(partId, script.nowMs)
    expect(status?.neighbours.map(({ nodeId }) => nodeId)).toEqual([idOf(2)])
    expect(script.core.streamParts.get(partId)?.guests).toEqual([idOf(9)])
    // Nobody ordered it, and it stays.
    script.pass(networkLimits.retireMs)
    expect(script.core.streamParts.get(partId)?.guests).toEqual([idOf(9)])
    script.run(closed(9))
    expect(script.core.streamParts.get(partId)?.guests).toEqual([])
  })

  it('that serves none refuses, and so does one that may not read itself', () => {
    const none = new CoreScript()
    none.run(join, opened(9))
    expect(none.run(guestAttach(9))).toContain('detach 9 not-wanted')
    const feeder = host()
    feeder.run({ ...join, reads: false }, opened(9))
    expect(feeder.run(guestAttach(9))).toContain('detach 9 not-permitted')
  })

  it('lets nobody read who may not, and ends with the permission', () => {
    const script = host()
    script.readsForMs = () => 0
    script.run(join, opened(9))
    expect(script.run(guestAttach(9))).toContain('detach 9 not-permitted')
    script.readsForMs = () => Infinity
    script.run({ type: 'permissionsChanged', streamId })
    expect(script.run(guestAttach(9))).toContain('attach 9')
    script.readsForMs = () => 0
    expect(script.run({ type: 'permissionsChanged', streamId })).toContain('detach 9 not-permitted')
    expect(script.run(data(9))).not.toContain('data 9')
  })

  it('joins what its guests want, once the registry permits it, and leaves it when they are gone', () => {
    const script = host()
    script.readsForMs = () => undefined
    script.run(opened(9))
    expect(script.run(guestAttach(9))).toEqual(['resolve reader 9'])
    script.readsForMs = () => Infinity
    const answered = { type: 'readerResolved', scope: streamId, userId: idOf(9), found: true } as const
    expect(script.run(answered as OverlayEvent)).toEqual(['guests want it'])
    expect(script.run(join)).toContain('attach 9')
    script.pass(3 * networkLimits.guestLingerMs)
    script.run(closed(9))
    expect(script.pass(3 * networkLimits.guestLingerMs)).toContain('guests are gone')
    script.run(leave)
    expect(script.core.guests?.dueMs).toBe(Infinity)
  })

  it('tells a guest in time that it did not come to be in the stream part', () => {
    const script = host()
    script.run(opened(9))
    expect(script.run(guestAttach(9))).toEqual(['guests want it'])
    expect(script.pass(networkLimits.guestJoinMs)).toContain('detach 9 not-joined')
  })

  it('takes a bounded number, shared out by network, and the newest of the heaviest gives way', () => {
    const script = host({ maxGuests: 2 })
    script.networkOf = (peerId) => (peerId === idOf(11) ? 'honest' : 'heavy')
    script.run(join, ...[9, 10, 11, 12].map(opened))
    expect(script.run(guestAttach(9))).toContain('attach 9')
    expect(script.run(guestAttach(10))).toContain('attach 10')
    const lines = script.run(guestAttach(11))
    expect(lines).toContain('detach 10 full')
    expect(lines).toContain('attach 11')
    expect(script.run(guestAttach(12))).toContain('detach 12 full')
    expect(script.core.guests?.size).toBe(2)
    expect(script.core.counters['guests.refused']).toBe(1)
    expect(script.core.counters['guests.dismissed']).toBe(1)
  })

  it('joins a bounded number of stream parts for them, shared out in the same way', () => {
    const script = host({ maxGuestParts: 2 })
    script.networkOf = (peerId) => (peerId === idOf(11) ? 'honest' : 'heavy')
    script.run(opened(9), opened(11))
    expect(script.run(guestAttach(9, part(1)))).toEqual(['guests want it'])
    expect(script.run(guestAttach(9, part(2)))).toEqual(['guests want it'])
    expect(script.run(guestAttach(9, part(3)))).toContain('detach 9 full')
    expect(script.run(guestAttach(11, part(4)))).toEqual(['guests are gone', 'guests want it'])
  })

  it('lets a bounded number of attaches wait', () => {
    const script = host({ maxWaitingGuests: 2 })
    script.run(opened(9))
    for (const n of [1, 2]) script.run(guestAttach(9, part(n)))
    expect(script.run(guestAttach(9, part(3)))).toContain('detach 9 full')
  })

  it('lets attaches wait by networks: of one that has more than another, the newest makes room', () => {
    const script = host({ maxWaitingGuests: 2 })
    script.networkOf = (peerId) => (peerId === idOf(11) ? 'other' : 'one')
    script.run(opened(9), opened(11))
    for (const n of [1, 2]) script.run(guestAttach(9, part(n)))
    const lines = script.run(guestAttach(11, part(3)))
    expect(lines).toContain('detach 9 full')
    expect(lines).not.toContain('detach 11 full')
    // A place that is given back is free again.
    script.run(closed(9))
    expect(script.run(guestAttach(11, part(4)))).not.toContain('detach 11 full')
    expect(script.run(guestAttach(11, part(5)))).toContain('detach 11 full')
  })

  it('keeps no place for a guest that is refused, that left, or whose permission ended', () => {
    const script = host()
    script.readsForMs = () => 0
    script.run(join, opened(9))
    expect(script.run(guestAttach(9))).toContain('detach 9 not-permitted')
    expect(script.core.guests?.size).toBe(0)
    expect(script.run(guestAttach(9, part(3)))).toContain('detach 9 not-permitted')
    expect(script.core.guests?.size).toBe(0)
    script.readsForMs = () => Infinity
    script.run({ type: 'permissionsChanged', streamId })
    expect(script.run(guestAttach(9))).toContain('attach 9')
    expect(script.core.guests?.size).toBe(1)
    script.run(control(9, { type: 'detach', streamPartId: partId, reason: 'left' }))
    expect(script.core.guests?.size).toBe(0)
    script.run(opened(10))
    expect(script.run(guestAttach(10))).toContain('attach 10')
    script.readsForMs = () => 0
    script.run({ type: 'permissionsChanged', streamId })
    expect(script.core.guests?.size).toBe(0)
  })

  it('keeps no place for a guest of a stream part that it leaves', () => {
    const script = host()
    script.run(join, opened(9), guestAttach(9))
    expect(script.core.guests?.size).toBe(1)
    script.run(leave)
    expect(script.core.guests?.size).toBe(0)
  })

  it('asks the registry a bounded number of times for the guests of one network, whatever their keys', () => {
    const script = host({ maxGuestLookups: 3, maxWaitingGuests: 2 })
    script.readsForMs = () => undefined
    script.networkOf = (peerId) => (peerId === idOf(20) ? 'honest' : 'heavy')
    script.run(join, ...[9, 10, 11, 12, 20].map(opened))
    const refused = { type: 'readerResolved', scope: streamId, found: true } as const
    for (const peer of [9, 10, 11]) {
      expect(script.run(guestAttach(peer))).toContain(`resolve reader ${peer}`)
      script.readsForMs = () => 0
      expect(script.run({ ...refused, userId: idOf(peer) })).toContain(`detach ${peer} not-permitted`)
      script.readsForMs = () => undefined
      script.run(closed(peer))
    }
    for (const streamPartId of [partId, part(5)])
      expect(script.run(guestAttach(12, streamPartId))).toEqual(['dropped guests.refused', 'detach 12 full'])
    expect(script.run(guestAttach(20))).toContain('resolve reader 20')
    script.pass(networkLimits.guestLookupWindowMs)
    script.run(opened(12))
    expect(script.run(guestAttach(12))).toContain('resolve reader 12')
  })

  it('checks a bounded number of membership tokens of a guest, also where it is in nothing itself', () => {
    const script = host()
    script.run(opened(9))
    const token = (i: number) => ({ userId: idOf(30), expiresMs: startMs + i, signature: new Uint8Array(65) })
    const attachWith = (i: number): OverlayEvent => {
      const membership = { reads: true, token: token(i) }
      return control(9, { type: 'guestAttach', streamPartId: partId, sinceMs: 1, heads: [], membership })
    }
    const { maxMembershipTokens } = networkLimits
    for (let i = 0; i < maxMembershipTokens; i++) script.run(attachWith(i))
    expect(script.core.counters['peers.misbehaved']).toBe(0)
    expect(script.run(attachWith(maxMembershipTokens))).toContainEqual(
      expect.stringContaining('disconnect 9'),
    )
    expect(script.tokensVerified).toBe(maxMembershipTokens)
    script.run(closed(9))
    expect(script.core.guests?.size).toBe(0)
  })

  it('has the guest go that takes the most when they take too much, and serves its neighbours all the same', () => {
    const script = host({ maxGuestBytesPerS: 100, guestWindowMs: 1_000 })
    script.networkOf = (peerId) => peerId
    script.run(join, instruct(1, 2, 3), opened(2), attach(2), opened(3), attach(3), opened(9))
    script.run(guestAttach(9))
    const lines = script.run(data(2))
    expect(lines).toContain('data 3')
    expect(lines).toContain('detach 9 full')
    expect(script.core.counters['guests.dismissed']).toBe(1)
    expect(script.run(guestAttach(9))).toContain('detach 9 full')
  })

  it('takes of a guest that may only publish what it publishes, and sends it nothing', () => {
    const script = host()
    script.readsForMs = () => 0
    script.run(join, instruct(1, 2), opened(2), opened(9))
    script.readsForMs = (userId) => (userId === idOf(9) ? 0 : Infinity)
    script.run(attach(2))
    expect(script.run(guestAttach(9, partId, false))).toContain('attach 9')
    expect(script.run(data(2))).not.toContain('data 9')
  })

  it('asks a guest for nothing but what its user publishes', () => {
    const script = host()
    script.run(join, opened(9), guestAttach(9))
    const heads = (publisher: number): OverlayEvent => {
      const head = {
        publisherId: idOf(publisher),
        messageChainId: 'c',
        timestamp: startMs + 5,
        sequenceNumber: 0,
      }
      return control(9, { type: 'heads', streamPartId: partId, heads: [head] })
    }
    script.run(heads(7))
    expect(script.pass(1_000).filter((line) => line.startsWith('fetch'))).toEqual([])
    script.run(heads(9))
    expect(script.pass(1_000).filter((line) => line.startsWith('fetch 9'))).not.toEqual([])
  })
})
