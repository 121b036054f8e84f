import { execFileSync } from 'node:child_process'
import { promisify } from 'node:util'
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { Clock } from '../ports.ts'
import { createSystemClock, systemClock, type SystemClock } from './system-clock.ts'

const fired = (clock: Clock, delayMs: number) =>
  new Promise<void>((resolve) => clock.schedule(delayMs, resolve))

describe.each([true, false])('the system clock, keepsProcessAlive: %s', (keepsProcessAlive) => {
  const clock = createSystemClock({ keepsProcessAlive })

  it('tells the time', () => {
    expect(Number.isInteger(clock.now())).toBe(true)
    const before = clock.monotonicMs()
    expect(clock.monotonicMs()).toBeGreaterThanOrEqual(before)
  })

  it('runs what is scheduled, in order of time, and not what is cancelled', async () => {
    const order: string[] = []
    clock.schedule(20, () => order.push('late'))
    const cancel = clock.schedule(1, () => order.push('cancelled'))
    clock.schedule(0, () => order.push('early'))
    cancel()
    cancel()
    await fired(clock, 30)
    expect(order).toEqual(['early', 'late'])
  })

  it.each([2 ** 31, 30 * 86_400_000, Infinity])(
    'does not run at once what is %d ms away',
    async (delayMs) => {
      const order: string[] = []
      const cancel = clock.schedule(delayMs, () => order.push('far'))
      await fired(clock, 10)
      cancel()
      expect(order).toEqual([])
    },
  )

  it('ends the turn after what the turn still had to do', async () => {
    const order: string[] = []
    await new Promise<void>((resolve) => {
      clock.endOfTurn(() => {
        order.push('end of turn')
        resolve()
      })
      process.nextTick(() => order.push('tick'))
      queueMicrotask(() => order.push('microtask'))
      order.push('now')
    })
    expect(order.at(-1)).toBe('end of turn')
    expect(order).toHaveLength(4)
  })
})

describe('systemClock', () => {
  const url = new URL('./system-clock.ts', import.meta.url).href
  const run = (keepsProcessAlive: boolean, delayMs: number): string =>
    execFileSync(process.execPath, [
      '--input-type=module',
      '-e',
      `import { createSystemClock } from ${JSON.stringify(url)}
      createSystemClock({ keepsProcessAlive: ${keepsProcessAlive} }).schedule(${delayMs}, () => console.log('fired'))
      process.on('exit', () => console.log('exit'))`,
    ]).toString()

  it('keeps a process alive only when told to', () => {
    expect(run(true, 1)).toBe('fired\nexit\n')
    expect(run(false, 3_600_000)).toBe('exit\n')
  })

  it('is there', async () => {
    await fired(systemClock, 0)
  })
})

describe('the system clock of a page whose timers are held back', () => {
  const pause = promisify(setImmediate)
  let nowMs = 0
  afterEach(() => {
    vi.restoreAllMocks()
    vi.unstubAllGlobals()
  })

  function clockOfPage(): SystemClock {
    nowMs = 0
    vi.spyOn(performance, 'now').mockImplementation(() => nowMs)
    vi.stubGlobal('setTimeout', () => 1)
    return createSystemClock({ keepsProcessAlive: true })
  }

  it('calls what is late once something comes, the earliest first, and once', async () => {
    const clock = clockOfPage()
    const called: string[] = []
    clock.schedule(20_000, () => called.push('second'))
    clock.schedule(10_000, () => called.push('first'))
    clock.schedule(15_000, () => called.push('cancelled'))()
    clock.schedule(60_000, () => called.push('not yet'))
    for (const cameMs of [9_000, 10_500, 30_000, 31_500]) {
      nowMs = cameMs
      clock.catchUp()
      await pause()
      expect(called).toEqual(cameMs < 30_000 ? [] : ['first', 'second'])
    }
  })

  it('does not call what was cancelled by what was called before it', async () => {
    const clock = clockOfPage()
    const called: string[] = []
    clock.schedule(1, () => cancel())
    const cancel = clock.schedule(2, () => called.push('cancelled'))
    nowMs = 5_000
    clock.catchUp()
    await pause()
    expect(called).toEqual([])
  })
})
