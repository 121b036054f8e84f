import { describe, expect, it } from 'vitest'
import { networkLimits } from '../../limits.ts'
import {
  attach,
  batchAt,
  closed,
  contact,
  CoreScript,
  data,
  detach,
  idOf,
  instruct,
  join,
  leave,
  opened,
  partId,
  publish,
  startMs,
} from '../core.testkit.ts'
import type { OverlayEvent } from '../events.ts'

/** What the peer may have behind our proof. */
function firstFor(script: CoreScript, peer: number) {
  const part = script.core.streamParts.get(partId)
  return part && script.core.firstAttach(part, idOf(peer), script.nowMs)
}

/** Its link has opened, and it has had our attach. */
const openedWith = (peer: number): OverlayEvent => ({
  type: 'linkOpened',
  peerId: idOf(peer),
  attached: partId,
})

const feed: OverlayEvent = { type: 'join', streamPartId: partId, fillGaps: true, reads: false }

/** Joined, and dials a peer. */
function dialling(peer = 2): CoreScript {
  const script = new CoreScript()
  script.run(join, instruct(1, peer))
  return script
}

describe('the attach behind our proof', () => {
  it('is for a wanted peer that is being dialled, and asks for what was sent since the stream part was joined', () => {
    const script = dialling()
    script.nowMs += 700
    expect(firstFor(script, 2)).toEqual({ type: 'attach', streamPartId: partId, sinceMs: 700, heads: [] })
  })

  it('asks for what was sent before it was joined, too, where that is wanted, as far as neighbours keep it', () => {
    const script = new CoreScript()
    script.run({ ...join, lookBackMs: 5_000 }, instruct(1, 2))
    script.nowMs += 700
    expect(firstFor(script, 2)).toMatchObject({ sinceMs: 5_700 })
    script.nowMs += networkLimits.maxRecentAgeMs
    expect(firstFor(script, 2)).toMatchObject({ sinceMs: networkLimits.maxRecentAgeMs })
  })

  it.each<[string, (script: CoreScript) => void]>([
    ['is not wanted any more', (script) => script.run(instruct(2, 3))],
    ['has a link', (script) => script.run(openedWith(2))],
    ['is not dialled at present', (script) => script.run(openedWith(2), closed(2))],
    ['may be told of no feeder', (script) => script.run(feed)],
    ['is wanted by a stream part that was left', (script) => script.run(leave)],
    ['could be told what this node has published', (script) => script.run(publish(batchAt([startMs])))],
    [
      'could be told from whom this node has heard',
      (script) => script.run(instruct(2, 2, 3), openedWith(3), attach(3), data(3, batchAt([startMs]))),
    ],
  ])('is not sent to a peer that %s', (_, change) => {
    const script = dialling()
    expect(firstFor(script, 2)).toBeDefined()
    change(script)
    expect(firstFor(script, 2)).toBeUndefined()
  })

  it('is not sent to one that no tracker has named', () => {
    const script = dialling()
    script.run({ type: 'hold', peerId: idOf(9), contact })
    expect(firstFor(script, 9)).toBeUndefined()
  })

  it('is not sent to one that is banned and wanted, and dialled for the application', () => {
    const script = new CoreScript().withNeighbours(2)
    script.run({ type: 'malformed', peerId: idOf(2), detail: 'by the test' })
    script.run({ type: 'hold', peerId: idOf(2), contact })
    expect(firstFor(script, 2)).toBeUndefined()
    script.nowMs += networkLimits.banMs
    expect(firstFor(script, 2)).toBeDefined()
  })
})

describe('a link that opens when the peer has had our attach', () => {
  it('makes it a neighbour with its own attach, and no second of ours', () => {
    const script = dialling()
    expect(script.run(openedWith(2))).toEqual([])
    expect(script.run(attach(2))).toEqual(['neighbours [2]', 'status'])
  })

  it('is attached to again, and reported, when the peer stays silent', () => {
    const script = dialling()
    script.run(openedWith(2))
    const lines = script.pass(20_000)
    expect(lines).toContain('attach 2')
    expect(script.status()).toContain('failed [2:timeout]')
  })

  it('detaches from a peer that is not wanted any more', () => {
    const script = dialling()
    script.run(instruct(2, 3))
    expect(script.run(openedWith(2))).toEqual(['detach 2 not-wanted'])
  })

  it('detaches where the stream part was left', () => {
    const script = dialling()
    script.run(leave)
    expect(script.run(openedWith(2))).toEqual(['detach 2 left'])
  })

  it('detaches while the stream part rests after a fault', () => {
    const script = dialling()
    script.expectsFaults = true
    script.run({ type: 'partFault', streamPartId: partId, error: new Error('by the test') })
    expect(script.run(openedWith(2))).toEqual(['detach 2 left'])
  })

  it.each([
    ['not wanted any more', instruct(2, 3)],
    ['in a stream part that was left', leave],
  ])('takes for no misbehaviour what a peer that is %s sends until it hears of that', (_, change) => {
    const script = new CoreScript({ uselessGraceMs: 10, maxUselessData: 1, uselessDataPerS: 0.001 })
    script.run(join, instruct(1, 2), change, openedWith(2))
    script.pass(50)
    for (let i = 0; i < 5; i++) script.run(data(2, batchAt([startMs + i])))
    expect(script.core.counters['peers.misbehaved']).toBe(0)
  })

  it('tells it at once that this node only feeds by now', () => {
    const script = dialling()
    script.run(feed)
    script.sent.length = 0
    script.run(openedWith(2))
    expect(script.sent).toEqual([expect.objectContaining({ type: 'attach', membership: { reads: false } })])
  })

  it('is closed when the peer is banned, and nothing is sent on it', () => {
    const script = new CoreScript().withNeighbours(2)
    script.run({ type: 'malformed', peerId: idOf(2), detail: 'by the test' })
    expect(script.run(openedWith(2))).toEqual(['disconnect 2 MISBEHAVED'])
  })
})

describe('a peer that gets our attach twice, by two connections', () => {
  it('answers once, and holds nothing against us', () => {
    const script = new CoreScript()
    script.run(join, instruct(1, 2), opened(2), attach(2))
    expect(script.run(attach(2))).toEqual([])
    expect(script.core.counters['attach.repeated']).toBe(1)
    expect(script.core.counters['peers.misbehaved']).toBe(0)
    expect(script.attached()).toBe('2')
  })

  it('has refused us once when it refuses both', () => {
    const script = dialling()
    script.run(openedWith(2), detach(2, 'not-wanted'))
    // The first time is no failure.
    expect(script.run(detach(2, 'not-wanted'))).toEqual([])
    script.pass(networkLimits.minBackoffMs)
    expect(script.run(detach(2, 'not-wanted'))).toEqual(['status'])
    expect(script.status()).toContain('failed [2:refused]')
  })
})
