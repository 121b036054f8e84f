import { execFileSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { dilatedEnvironment, dilatedMs } from './dilation.ts'

/** Starts each kind of timer, for 20 ms, and says what the clocks say when it fires. */
const script = `
  import { setTimeout as promised } from 'node:timers/promises'
  const monotonicMs = () => Number(process.hrtime.bigint()) / 1e6
  // Times of marks are native.
  const nativeMs = () => performance.mark('').startTime
  const read = () => ({ before: nativeMs(), clocks: [performance.now(), monotonicMs()], after: nativeMs() })
  const from = read()
  const fired = () => {
    const { before, clocks, after } = read()
    const ranMs = clocks.map((ms, i) => ms - from.clocks[i])
    const realMs = [before - from.after, after - from.before]
    console.log(JSON.stringify({ ranMs, realMs, nowMs: Date.now() }))
  }
  setTimeout(fired, 20)
  const timer = setInterval(() => fired(clearInterval(timer)), 20)
  promised(20).then(fired)
`

interface Fired {
  /** By each monotonic clock. */
  readonly ranMs: readonly number[]
  /** So long at least, and so long at most. */
  readonly realMs: readonly [number, number]
  readonly nowMs: number
}

function run(env: Readonly<Record<string, string>>): Fired[] {
  const options = { env: { PATH: process.env['PATH'], ...env }, encoding: 'utf8' } as const
  const said = execFileSync(process.execPath, ['--input-type=module', '-e', script], options)
  return said
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Fired)
}

describe('a process for which time goes slower', () => {
  it('waits so many times as long, and all of its clocks say what they would without', () => {
    const dilation = { factor: 8, sinceMs: Date.now() - 3_600_000 }
    const timers = run(dilatedEnvironment(dilation))
    expect(timers).toHaveLength(3)
    for (const { ranMs, realMs, nowMs } of timers) {
      const [leastMs, mostMs] = realMs
      expect(mostMs).toBeGreaterThan(158)
      expect(ranMs).toHaveLength(2)
      for (const ms of ranMs) {
        expect(8 * ms).toBeGreaterThan(leastMs - 1)
        expect(8 * ms).toBeLessThan(mostMs + 1)
      }
      expect(nowMs).toBeLessThanOrEqual(Math.ceil(dilatedMs(Date.now(), dilation)))
      expect(nowMs).toBeGreaterThan(dilation.sinceMs + 3_600_000 / 8)
    }
  })

  it('is left as it is where time goes as fast', () => {
    expect(dilatedEnvironment({ factor: 1, sinceMs: 0 })).toEqual({})
  })
})
