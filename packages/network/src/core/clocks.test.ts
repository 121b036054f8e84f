import { createIdentity, signMembership } from '@runnel/protocol'
import { describe, expect, it } from 'vitest'
import { networkLimits } from '../limits.ts'
import {
  attach,
  batchAt,
  closed,
  control,
  CoreScript,
  crypto,
  data,
  idOf,
  instruct,
  join,
  opened,
  partId,
  startMs,
} from './core.testkit.ts'

const hourMs = 3_600_000
const jumps = [
  ['an hour ahead', hourMs],
  ['not at all', 0],
  ['an hour back', -hourMs],
] as const
const at = (offsetMs: number) => ({ timestamp: startMs + offsetMs, sequenceNumber: 0 })

/** Neighbours 2 and 3, round-trip times of 20 ms, and a first message. */
function script(options: { hasArchive?: boolean } = {}): CoreScript {
  const core = new CoreScript({}, options)
  core.rttMs = 20
  core.withNeighbours(2, 3)
  core.run(data(2, batchAt([startMs])))
  return core
}

describe.each(jumps)('while the wall clock jumps %s', (_, jumpMs) => {
  it('a gap is fetched, and given to the archive, as soon', () => {
    const core = script({ hasArchive: true })
    core.run(data(2, batchAt([startMs + 20], { previous: at(10) })))
    core.pass(10)
    core.wallAheadMs += jumpMs
    expect(core.pass(9).filter((line) => line.startsWith('fetch'))).toEqual([])
    expect(core.pass(1)).toContain('fetch 2 (0,10]')
    core.wallAheadMs += jumpMs
    expect(core.pass(5_000)).toContain('archive (0,10]')
  })

  it('a lost neighbour is dialled as soon', () => {
    const core = script()
    core.run(closed(3))
    core.wallAheadMs += jumpMs
    expect(core.pass(networkLimits.minBackoffMs - 1)).not.toContain('connect 3')
    expect(core.pass(1)).toContain('connect 3')
  })

  it('an attach without an answer is repeated, and reported, as soon', () => {
    const core = new CoreScript()
    core.run(join, instruct(1, 2), opened(2))
    core.wallAheadMs += jumpMs
    expect(core.pass(10_000)).toEqual(expect.arrayContaining(['attach 2', 'status']))
  })

  it('recent batches are kept as long, and asked for as far back', () => {
    const core = script()
    core.pass(1_000)
    core.wallAheadMs += jumpMs
    expect(core.run(opened(4), attach(4, 5_000))).toContain('data 4')
    expect(core.sent.findLast(({ type }) => type === 'attach')).toMatchObject({ sinceMs: 1_000 })
    core.pass(hourMs)
    expect(core.core.streamParts.get(partId)?.recent.size).toBe(0)
  })

  it('the end of a chain that begins then is looked for', () => {
    const core = script()
    core.pass(1_000)
    core.wallAheadMs += jumpMs
    const head = {
      ...batchAt([core.wallMs], { chainId: 'new' }).chain,
      timestamp: core.wallMs,
      sequenceNumber: 0,
    }
    core.run(control(3, { type: 'heads', streamPartId: partId, heads: [head] }))
    expect(core.pass(1_000).filter((line) => line.startsWith('fetch 3'))).not.toEqual([])
  })

  it('a permission lasts as long as was said when it was asked for', () => {
    const core = new CoreScript()
    core.readsForMs = (userId) => (userId === idOf(3) ? 60_000 : Infinity)
    core.withNeighbours(2, 3)
    core.wallAheadMs += jumpMs
    core.readsForMs = (userId) => (userId === idOf(3) ? 0 : Infinity)
    core.pass(59_999)
    expect(core.attached()).toBe('2 3')
    expect(core.pass(1)).toContain('detach 3 not-permitted')
  })
})

describe('dates follow the wall clock', () => {
  it('timestamps of messages', () => {
    const core = script()
    core.wallAheadMs += hourMs
    expect(core.run(data(2, batchAt([startMs + 1])))).toEqual(['dropped data.tooOld'])
    expect(core.run(data(2, batchAt([core.wallMs])))).toContain('data 3')
    core.wallAheadMs -= hourMs
    const chainId = 'of another'
    expect(core.run(data(2, batchAt([core.wallMs + hourMs], { chainId })))).toEqual([
      'dropped data.timestampAhead',
    ])
    expect(core.run(data(2, batchAt([core.wallMs], { chainId })))).toContain('data 3')
  })

  it('the end of a membership token', () => {
    const core = new CoreScript()
    const user = createIdentity(new Uint8Array(32).fill(9), crypto)
    core.readsForMs = (userId) => (userId === user.nodeId ? Infinity : 0)
    core.run(join, instruct(1, 2), opened(2))
    const token = signMembership({ nodeId: idOf(2), expiresMs: core.wallMs + 60_000 }, crypto, user)
    const packet = {
      type: 'attach',
      streamPartId: partId,
      sinceMs: 0,
      heads: [],
      membership: { reads: true, token },
    } as const
    core.run(control(2, packet))
    expect(core.attached()).toBe('2')
    core.wallAheadMs += 60_000
    expect(core.run(control(2, packet))).toContain('detach 2 not-permitted')
  })
})
