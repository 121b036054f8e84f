import { expect, it } from 'vitest'
import { fillMachine } from './fill-machine.ts'
import { heldOf } from './held.ts'
import type { Machine } from './machine.ts'
import type { FillOptions } from './session-plan.ts'

const { signal } = new AbortController()
const options: FillOptions = {
  ...{ arm: 'light-websocket', members: 3, maxSessions: 5, measures: 'each' },
  limits: { joinMs: 10_000, completenessPercent: 99 },
  ...{ warmUpMs: 0, windowMs: 1, budgetMs: 60_000, holdMs: 0 },
  firstWarmUpMs: 0,
}

/** Whose session with this number joins so slowly, or from which on so much arrives of what all send. */
function machine({
  joinMs = () => 100,
  arrives = () => 1,
}: Partial<Record<'joinMs' | 'arrives', (n: number) => number>>): Machine {
  let open = 0
  return {
    leavesOut: 'all',
    joined: 0,
    open: (number) => {
      open = number + 1
      if (joinMs(number) === Infinity) return Promise.reject(new Error('no place'))
      const sample = () => ({ sent: 100, sentBytes: 1_000, received: 100 * 2 * arrives(open) })
      return Promise.resolve({ joinMs: joinMs(number), sample: () => Promise.resolve(sample()) })
    },
    stop: () => Promise.resolve(),
  }
}

async function held(given: Parameters<typeof machine>[0], limits: Partial<FillOptions> = {}) {
  const fill = { ...options, ...limits }
  const { sessions, users, endedBy } = heldOf(fill, {
    ...(await fillMachine(machine(given), fill, signal, () => {})),
    joined: 0,
    elapsedS: 1,
  })
  return { sessions, users, endedBy }
}

it('adds sessions until there are enough', async () => {
  expect(await held({})).toEqual({ sessions: 5, users: 15, endedBy: 'most sessions' })
})

it('ends where too little arrives, and holds what was before', async () => {
  const arrives = (open: number) => (open < 4 ? 1 : 0.98)
  expect(await held({ arrives })).toEqual({ sessions: 3, users: 9, endedBy: 'completeness' })
  expect(await held({ arrives: () => 0.5 })).toEqual({ sessions: 0, users: 0, endedBy: 'completeness' })
})

it('ends where a user joins too late, or not at all', async () => {
  const slow = (number: number) => (number < 2 ? 100 : 10_001)
  expect(await held({ joinMs: slow })).toEqual({
    sessions: 2,
    users: 6,
    endedBy: 'join: a user took too long',
  })
  const never = (number: number) => (number < 2 ? 100 : Infinity)
  expect(await held({ joinMs: never })).toEqual({ sessions: 2, users: 6, endedBy: 'join: no place' })
})

it('says what is wrong where not even one session can join', async () => {
  await expect(held({ joinMs: () => Infinity })).rejects.toThrow('no place')
})

it('ends where its time is over', async () => {
  expect(await held({}, { budgetMs: -1 })).toEqual({ sessions: 0, users: 0, endedBy: 'time' })
})

it('measures once, when all have joined, where it adds them as fast as they join', async () => {
  const joinMs = (number: number) => (number === 2 ? 700 : 100)
  const { points } = await fillMachine(
    machine({ joinMs }),
    { ...options, measures: 'last' },
    signal,
    () => {},
  )
  expect(points).toMatchObject([{ sessions: 5, users: 15, joinMs: 700, completenessPercent: 100 }])
  const slow = machine({ joinMs: (number) => (number < 2 ? 100 : 10_001) })
  expect(await fillMachine(slow, { ...options, measures: 'last' }, signal, () => {})).toMatchObject({
    ...{ points: [], endedBy: 'join', detail: 'a user took too long' },
  })
})
