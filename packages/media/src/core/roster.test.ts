import { describe, expect, it } from 'vitest'
import { mediaLimits } from '../limits.ts'
import { Roster } from './roster.ts'

describe('the roster', () => {
  it('has who says so, until they leave or say nothing any more', () => {
    const roster = new Roster()
    expect(roster.seen('a', 's1', 0)).toBe('joined')
    expect(roster.seen('b', 's2', 0)).toBe('joined')
    expect(roster.seen('a', 's1', 5_000)).toBe('known')
    expect(roster.seen('a', 's3', 6_000)).toBe('replaced')
    expect(roster.expire(mediaLimits.memberTtlMs)).toEqual(['b'])
    expect(roster.left('a')).toBe(true)
    expect(roster.left('a')).toBe(false)
  })

  it('does not take back who said goodbye, for what they said before', () => {
    const roster = new Roster()
    roster.seen('a', 's1', 0)
    roster.left('a')
    expect(roster.seen('a', 's1', 100)).toBe('left')
    expect(roster.seen('a', 's2', 100)).toBe('joined')
    expect(roster.seen('b', 's1', 100)).toBe('joined')
  })

  it('keeps who is in another session than the one that a late goodbye is of', () => {
    const roster = new Roster()
    roster.seen('a', 's1', 0)
    roster.seen('a', 's2', 100)
    expect(roster.left('a', 's1')).toBe(false)
    expect(roster.seen('a', 's2', 200)).toBe('known')
    expect(roster.left('a', 's2')).toBe(true)
  })

  it('does not take for there whose goodbye came before what they said', () => {
    const roster = new Roster()
    expect(roster.left('a', 's1')).toBe(false)
    expect(roster.seen('a', 's1', 0)).toBe('left')
    expect(roster.seen('a', 's2', 0)).toBe('joined')
    expect(roster.left('a', 's3')).toBe(false)
    expect(roster.seen('a', 's3', 100)).toBe('left')
    expect(roster.seen('a', 's2', 100)).toBe('known')
  })

  it('remembers the goodbyes of members however many goodbyes others invent', () => {
    const roster = new Roster()
    roster.seen('a', 's1', 0)
    roster.left('a')
    for (let i = 0; i < 2 * mediaLimits.maxMembers; i++) roster.left('b', `${i}`)
    expect(roster.seen('a', 's1', 100)).toBe('left')
  })

  it('takes back who was said to be over and is not', () => {
    const roster = new Roster()
    roster.seen('a', 's1', 0)
    roster.replaced('a')
    expect(roster.seen('a', 's1', 100)).toBe('joined')
  })

  it('remembers as many goodbyes as there may be members', () => {
    const roster = new Roster()
    for (let i = 0; i <= mediaLimits.maxMembers; i++) {
      roster.seen(`${i}`, 's', 0)
      roster.left(`${i}`)
    }
    expect(roster.seen('0', 's', 0)).toBe('joined')
    expect(roster.seen('1', 's', 0)).toBe('left')
  })

  it('refuses whom there is no room for', () => {
    const roster = new Roster()
    for (let i = 0; i < mediaLimits.maxMembers; i++) roster.seen(`${i}`, 's', 0)
    expect(roster.seen('more', 's', 0)).toBe('refused')
    expect(roster.membersRefused).toBe(1)
    expect(roster.seen('0', 's', 0)).toBe('known')
  })
})
