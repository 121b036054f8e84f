import { describe, expect, it } from 'vitest'
import { memberTransitions, transitionOf, type MemberInput, type MemberState } from './member-states.ts'
import { overlayStateOf } from './overlay-states.ts'

const inputs: readonly MemberInput[] = [
  'claim',
  'report',
  'attached',
  'partlyAttached',
  'instructed',
  'adopted',
  'foreseen',
]

/** All of it again, in the order of `inputs`: a dash is what cannot happen. */
const table: Record<MemberState, readonly string[]> = {
  absent: ['claimed gather', 'joined join', '-', '-', '-', '-', 'expected'],
  claimed: ['claimed gather', 'claimed gather', '-', '-', 'claimed', 'joined', '-'],
  expected: ['-', 'joined confirm', '-', '-', '-', '-', '-'],
  joined: ['claimed withdraw', 'joined acknowledge', 'settled', 'told', 'joined', '-', '-'],
  told: ['-', 'told acknowledge', 'settled', 'told', 'told', '-', '-'],
  settled: ['-', 'settled acknowledge', 'settled', 'told', 'told', '-', '-'],
}

describe.each(Object.entries(table))('a member that is %s', (state, row) => {
  it.each(row.map((wanted, i) => [inputs[i] as MemberInput, wanted] as const))('%s: %s', (input, wanted) => {
    const step = () => transitionOf(state as MemberState, input)
    if (wanted === '-') return expect(step).toThrow(/cannot be/)
    const { next, action } = step()
    expect([next, ...(action === undefined ? [] : [action])].join(' ')).toBe(wanted)
  })
})

it('every state but that of a newcomer is reached by some input', () => {
  const transitions = Object.values(memberTransitions).flatMap((row) => Object.values(row))
  const reached = new Set(transitions.map(({ next }) => next))
  expect([...reached].sort()).toEqual(['claimed', 'expected', 'joined', 'settled', 'told'])
})

it.each([
  [{ claimed: 0, placed: 0, hasReplica: false }, 'new'],
  [{ claimed: 0, placed: 0, hasReplica: true }, 'foreseen'],
  [{ claimed: 1, placed: 0, hasReplica: false }, 'gathering'],
  [{ claimed: 1, placed: 0, hasReplica: true }, 'gathering'],
  [{ claimed: 1, placed: 1, hasReplica: false }, 'merging'],
  [{ claimed: 0, placed: 1, hasReplica: false }, 'settled'],
])('an overlay of which this is known: %o is %s', (known, state) => {
  expect(overlayStateOf(known)).toBe(state)
})
