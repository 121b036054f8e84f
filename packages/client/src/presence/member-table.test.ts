import { toNodeId } from '@runnel/protocol'
import { beforeEach, describe, expect, it } from 'vitest'
import { presenceLimits } from './limits.ts'
import { MemberTable } from './member-table.ts'
import type { PresenceMessage } from './presence-message.ts'

const startMs = Date.UTC(2031, 0, 1)
const idOf = (n: number) => toNodeId(`0x${n.toString(16).padStart(40, '0')}`)

let table: MemberTable
let nowMs: number
beforeEach(() => {
  table = new MemberTable(presenceLimits)
  nowMs = 0
})

/** The member with a number says something now, unless told otherwise. */
function says(n: number, of: Partial<PresenceMessage> = {}) {
  const wallMs = startMs + nowMs
  const said = { userId: idOf(n), nodeId: idOf(1_000 + n), timestamp: wallMs, isHere: true, data: undefined }
  return table.take({ ...said, ...of }, { nowMs, wallMs })?.type
}
const after = (ms: number) => {
  nowMs += ms
  return table.expire(nowMs).map(({ type, userId }) => `${type} ${Number(userId)}`)
}

describe('the members of a stream', () => {
  it('join, say that they are there, say something else, and leave', () => {
    expect(says(1)).toBe('joined')
    after(10_000)
    expect(says(1)).toBeUndefined()
    after(10_000)
    expect(says(1, { data: '{"name":"a"}' })).toBe('changed')
    expect(table.members).toEqual([{ userId: idOf(1), nodeId: idOf(1_001), data: { name: 'a' } }])
    after(1)
    expect(says(1, { isHere: false })).toBe('left')
    expect([table.size, table.dueMs]).toEqual([0, Infinity])
  })

  it('are lost when they were silent for 25 seconds, each at its own time', () => {
    says(1)
    after(5_000)
    says(2)
    after(10_000)
    says(1)
    expect(table.dueMs).toBe(30_000)
    expect(after(14_999)).toEqual([])
    expect(after(1)).toEqual(['lost 2'])
    expect(after(10_000)).toEqual(['lost 1'])
    expect(says(1)).toBe('joined')
  })

  it('do not come back by what they said before they went, or were lost', () => {
    says(1)
    says(2)
    const before = startMs + nowMs
    after(1_000)
    says(1, { isHere: false })
    expect(says(1, { timestamp: before })).toBeUndefined()
    expect(says(1, { timestamp: startMs + nowMs })).toBeUndefined()
    after(25_000)
    expect(says(2, { timestamp: before })).toBeUndefined()
    expect([table.size, table.refused]).toEqual([0, 3])
  })

  it('are heard only with times near this clock, whatever comes again or from the future', () => {
    const { maxPresenceSkewMs } = presenceLimits
    expect(says(1, { timestamp: startMs - maxPresenceSkewMs - 1 })).toBeUndefined()
    expect(says(1, { timestamp: startMs + maxPresenceSkewMs + 1 })).toBeUndefined()
    expect(says(1, { timestamp: startMs - maxPresenceSkewMs })).toBe('joined')
  })

  it('gain nothing by saying much: what comes too soon neither counts nor keeps them there', () => {
    says(1)
    for (let i = 0; i < 24; i++) {
      after(1_000)
      expect(says(1, { data: `${i}`, timestamp: startMs + i })).toBeUndefined()
    }
    expect(after(1_000)).toEqual(['lost 1'])
    expect(says(1)).toBe('joined')
    after(1)
    expect(says(1, { isHere: false })).toBe('left')
    after(1)
    expect(says(1)).toBeUndefined()
  })

  it('are so many of one user, and so many in all, and there is room again when some go', () => {
    const limits = { ...presenceLimits, maxMembers: 4, maxMembersOfUser: 2 }
    table = new MemberTable(limits)
    const ofUser = (user: number) => [1, 2, 3].map((n) => says(user, { nodeId: idOf(n) }))
    expect(ofUser(1)).toEqual(['joined', 'joined', undefined])
    expect(ofUser(2)).toEqual(['joined', 'joined', undefined])
    expect(says(3)).toBeUndefined()
    after(10)
    says(1, { nodeId: idOf(1), isHere: false })
    expect(says(3)).toBe('joined')
    expect(table.refused).toBe(3)
    for (let n = 10; n < 30; n++) says(n, { isHere: false })
    expect(table.size).toBe(4)
  })
})
