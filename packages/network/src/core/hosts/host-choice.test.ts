import type { NodeId } from '@runnel/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { networkLimits } from '../../limits.ts'
import { idOf } from '../core.testkit.ts'
import { HostChoice } from './host-choice.ts'

/** Hosts by number; what is dialled and dropped is written down, and time passes as told. */
function script(count: number, atOnce = 2) {
  const lines: string[] = []
  let nowMs = 0
  const urlOf = (n: number) => `memory:${n}`
  const choice = new HostChoice(
    {
      hosts: Array.from({ length: count }, (_, i) => ({ url: urlOf(i + 1) })),
      atOnce,
      limits: networkLimits,
    },
    {
      find: ({ url }) => lines.push(`dial ${url.slice(7)}`),
      drop: (peerId) => lines.push(`drop ${Number(peerId)}`),
      random: () => 0,
    },
  )
  const told = (): string[] => lines.splice(0)
  return {
    choice,
    told,
    found: (n: number, peer = n) => {
      const isTaken = choice.foundAt(urlOf(n), idOf(peer), nowMs)
      choice.tick(nowMs)
      return isTaken
    },
    failed: (n: number) => choice.failed(urlOf(n), nowMs),
    closed: (n: number) => choice.closed(idOf(n), nowMs),
    rest: (n: number) => choice.rest(idOf(n), nowMs),
    need: (isNeeded = true) => choice.need(isNeeded, nowMs),
    /** Lets time pass, tick by tick. */
    pass(ms: number) {
      const untilMs = nowMs + ms
      while (choice.dueMs <= untilMs) {
        nowMs = Math.max(nowMs, Math.ceil(choice.dueMs))
        choice.tick(nowMs)
      }
      nowMs = untilMs
      choice.tick(nowMs)
      return told()
    },
  }
}

describe('a choice of hosts', () => {
  it('dials the first in the list, as many as are used at once, and nobody before it is needed', () => {
    const { told, need, found, choice } = script(3)
    expect(told()).toEqual([])
    need()
    expect(told()).toEqual(['dial 1', 'dial 2'])
    found(1)
    found(2)
    expect(told()).toEqual([])
    expect(choice.found).toEqual([idOf(1), idOf(2)])
    expect(choice.dueMs).toBe(Infinity)
  })

  it('goes to the next at once when one fails or is lost, and comes back after a pause', () => {
    const { told, need, found, failed, closed, pass } = script(3)
    need()
    found(1)
    told()
    failed(2)
    expect(told()).toEqual(['dial 3'])
    found(3)
    expect(told()).toEqual([])
    closed(1)
    expect(told()).toEqual([])
    expect(pass(networkLimits.minBackoffMs)).toEqual(['dial 1'])
  })

  it('does not wait for one that does not answer', () => {
    const { told, need, found, pass, choice } = script(3)
    need()
    found(1)
    told()
    expect(pass(networkLimits.hostStaggerMs)).toEqual(['dial 3'])
    found(3)
    // The slow one answers after all: one too many, and the last goes.
    found(2)
    expect(told()).toEqual(['drop 3'])
    expect(choice.found).toEqual([idOf(1), idOf(2)])
  })

  it('leaves one that rests only when another is there', () => {
    const { told, need, found, rest, choice } = script(3)
    need()
    found(1)
    found(2)
    told()
    rest(1)
    expect(told()).toEqual(['dial 3'])
    expect(choice.found).toEqual([idOf(1), idOf(2)])
    found(3)
    expect(told()).toEqual(['drop 1'])
    expect(choice.found).toEqual([idOf(2), idOf(3)])
  })

  it('keeps one that rests where there is no other', () => {
    const { told, need, found, rest, choice } = script(2)
    need()
    found(1)
    found(2)
    told()
    rest(1)
    expect(told()).toEqual([])
    expect(choice.found).toEqual([idOf(1), idOf(2)])
  })

  it('takes a node that two URLs lead to once', () => {
    const { need, found, choice } = script(2)
    need()
    expect(found(1, 7)).toBe(true)
    expect(found(2, 7)).toBe(false)
    expect(choice.found).toEqual([idOf(7)])
  })

  it('uses as many as there are, whatever fails and comes back', () => {
    const step = fc.record({
      act: fc.constantFrom('closed', 'rest', 'pass'),
      host: fc.integer({ min: 1, max: 4 }),
    })
    fc.assert(
      fc.property(fc.array(step), fc.subarray([1, 2, 3, 4]), (steps, reachable) => {
        const { told, need, found, failed, closed, rest, pass, choice } = script(4)
        const answer = (lines: readonly string[]): void => {
          for (const line of lines) {
            const [what, n] = line.split(' ')
            if (what !== 'dial') continue
            if (reachable.includes(Number(n))) found(Number(n))
            else failed(Number(n))
          }
          const more = told()
          if (more.length > 0) answer(more)
        }
        need()
        answer(told())
        for (const { act, host } of steps) {
          if (act === 'closed') closed(host)
          if (act === 'rest') rest(host)
          answer(act === 'pass' ? pass(500) : told())
          expect(choice.found.length).toBeLessThanOrEqual(2)
          expect(new Set<NodeId>(choice.found).size).toBe(choice.found.length)
        }
        // Longer than any pause: all that can be reached are dialled again, until two are there.
        for (let i = 0; i < 8; i++) answer(pass(networkLimits.maxBackoffMs))
        expect(choice.found).toHaveLength(Math.min(2, reachable.length))
      }),
    )
  })
})
