import { execFileSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { dilatedEnvironment, dilatedMs } from './dilation.ts'

/** Waits for 20 ms by each kind of timer. */
const script = `
  import { setTimeout as delay } from 'node:timers/promises'
  const fromMs = performance.now()
  const from = process.hrtime.bigint()
  await delay(20)
  await new Promise((resolve) => setTimeout(resolve, 20))
  await new Promise((resolve) => {
    const timer = setInterval(() => resolve(clearInterval(timer)), 20)
  })
  const realMs = Number(process.hrtime.bigint() - from) / 1e6
  console.log(JSON.stringify({ ranMs: performance.now() - fromMs, realMs, nowMs: Date.now() }))
`

interface Ran {
  readonly ranMs: number
  readonly realMs: number
  readonly nowMs: number
}

function run(env: Readonly<Record<string, string>>): Ran {
  const options = { env: { PATH: process.env['PATH'], ...env }, encoding: 'utf8' } as const
  return JSON.parse(execFileSync(process.execPath, ['--input-type=module', '-e', script], options)) as Ran
}

describe('a process for which time goes slower', () => {
  it('waits so many times as long, and all of its clocks say what they would without', () => {
    const dilation = { factor: 8, sinceMs: Date.now() - 3_600_000 }
    const { ranMs, realMs, nowMs } = run(dilatedEnvironment(dilation))
    expect(realMs).toBeGreaterThan(3 * 160 - 10)
    expect(ranMs / realMs).toBeCloseTo(1 / 8, 2)
    expect(nowMs).toBeLessThanOrEqual(Math.ceil(dilatedMs(Date.now(), dilation)))
    expect(nowMs).toBeGreaterThan(dilation.sinceMs + 3_600_000 / 8)
  })

  it('is left as it is where time goes as fast', () => {
    expect(dilatedEnvironment({ factor: 1, sinceMs: 0 })).toEqual({})
  })
})
