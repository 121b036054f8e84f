import { VirtualClock } from '@runnel/transport'
import { describe, expect, it } from 'vitest'
import { clientError } from '../errors.ts'
import { KeyHolding } from './key-holding.ts'

/** A holder whose keys are valid for so long, and what becomes of it. */
function setUp(validForMs: number) {
  const clock = new VirtualClock()
  const heldAtMs: number[] = []
  const problems: string[] = []
  let failure: Error | undefined
  const stream = {
    hold: () => {
      if (failure !== undefined) return Promise.reject(failure)
      heldAtMs.push(clock.monotonicMs())
      return Promise.resolve()
    },
    opener: { validForMs },
  }
  const holding = new KeyHolding({
    stream: () => Promise.resolve(stream),
    clock,
    onProblem: ({ message }) => problems.push(message),
  })
  const fail = (error: Error | undefined) => (failure = error)
  return { clock, heldAtMs, problems, holding, fail }
}

/** Turns the clock, one second after the other, as what is scheduled goes on in later turns. */
async function turn(clock: VirtualClock, seconds: number): Promise<void> {
  for (let i = 0; i < seconds; i++) {
    clock.advanceBy(1_000)
    for (let turns = 0; turns < 5; turns++) await Promise.resolve()
  }
}

describe('whoever holds keys', () => {
  it('makes the next one when the present one ends', async () => {
    const { clock, heldAtMs, holding } = setUp(3_000)
    await holding.start()
    await turn(clock, 7)
    expect(heldAtMs.map((ms) => ms - (heldAtMs[0] ?? 0))).toEqual([0, 3_000, 6_000])
  })

  it('looks every ten seconds, and no more once it stops', async () => {
    const { clock, heldAtMs, holding } = setUp(Infinity)
    await holding.start()
    await turn(clock, 25)
    expect(heldAtMs).toHaveLength(3)
    holding.stop()
    await turn(clock, 25)
    expect(heldAtMs).toHaveLength(3)
  })

  it('goes on after a failure, and tells of it once until it works again', async () => {
    const { clock, heldAtMs, problems, holding, fail } = setUp(Infinity)
    await holding.start()
    fail(clientError('KEYS_UNCERTAIN', 'first'))
    await turn(clock, 30)
    fail(undefined)
    await turn(clock, 10)
    expect(heldAtMs).toHaveLength(2)
    fail(clientError('KEYS_UNCERTAIN', 'second'))
    await turn(clock, 10)
    expect(problems).toEqual([expect.stringContaining('first'), expect.stringContaining('second')])
  })

  it('refuses to begin where it cannot', async () => {
    const { holding, fail } = setUp(Infinity)
    fail(clientError('NOT_KEY_HOLDER', 'of x'))
    await expect(holding.start()).rejects.toMatchObject({ code: 'NOT_KEY_HOLDER' })
    holding.stop()
  })
})
