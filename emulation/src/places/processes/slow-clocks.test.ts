import { execFileSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { dilatedEnvironment, dilatedMs } from './dilation.ts'

/** Starts each kind of timer, for 20 ms, and says what the clocks say when it fires. */
const script = `
  import { setTimeout as promised } from 'node:timers/promises'
  const fromMs = performance.now()
  const from = process.hrtime.bigint()
  const fired = () => {
    const realMs = Number(process.hrtime.bigint() - from) / 1e6
    console.log(JSON.stringify({ ranMs: performance.now() - fromMs, realMs, nowMs: Date.now() }))
  }
  setTimeout(fired, 20)
  const timer = setInterval(() => fired(clearInterval(timer)), 20)
  promised(20).then(fired)
`

interface Fired {
  readonly ranMs: number
  readonly realMs: number
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
      expect(realMs).toBeGreaterThan(158)
      expect(ranMs / realMs).toBeCloseTo(1 / 8, 2)
      expect(nowMs).toBeLessThanOrEqual(Math.ceil(dilatedMs(Date.now(), dilation)))
      expect(nowMs).toBeGreaterThan(dilation.sinceMs + 3_600_000 / 8)
    }
  })

  it('is left as it is where time goes as fast', () => {
    expect(dilatedEnvironment({ factor: 1, sinceMs: 0 })).toEqual({})
  })
})
