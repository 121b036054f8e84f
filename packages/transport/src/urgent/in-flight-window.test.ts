import { describe, expect, it } from 'vitest'
import { InFlightWindow } from './in-flight-window.ts'

const limits = { targetMs: 20, minBytes: 2_000, firstBytes: 16_000, maxBytes: 200_000 }

/** Sends all it may over a line, for so long; returns the longest wait on it in the second half, and the bytes sent in that. */
function saturate(window: InFlightWindow, line: { bytesPerMs: number; delayMs: number }, untilMs: number) {
  const answers: { token: number; atMs: number }[] = []
  let [freeAtMs, token, waitedMs, bytes] = [0, 0, 0, 0]
  for (let nowMs = 0; nowMs < untilMs; nowMs++) {
    while (answers[0] !== undefined && answers[0].atMs <= nowMs)
      window.answered(answers.shift()?.token ?? 0, nowMs)
    const probe = (): void => {
      if (window.probeDueMs(nowMs) > nowMs) return
      window.probed(++token, nowMs)
      answers.push({ token, atMs: Math.max(freeAtMs, nowMs) + 2 * line.delayMs })
    }
    while (window.roomBytes > 0) {
      window.sent(1000)
      freeAtMs = Math.max(freeAtMs, nowMs) + 1000 / line.bytesPerMs
      probe()
      if (nowMs < untilMs / 2) continue
      waitedMs = Math.max(waitedMs, freeAtMs - nowMs)
      bytes += 1000
    }
    probe()
  }
  return { waitedMs, bytesPerMs: bytes / (untilMs / 2) }
}

describe('InFlightWindow', () => {
  it.each([
    { bytesPerMs: 125, delayMs: 10 },
    { bytesPerMs: 1250, delayMs: 40 },
  ])(
    'takes more than half of a line of $bytesPerMs bytes/ms and $delayMs ms, and lets little wait',
    (line) => {
      const window = new InFlightWindow(limits)
      const { waitedMs, bytesPerMs } = saturate(window, line, 20_000)
      expect(bytesPerMs).toBeGreaterThan(0.55 * line.bytesPerMs)
      expect(waitedMs).toBeLessThan(6 * limits.targetMs)
    },
  )

  it('lets no more be under way than it has room for, and anything when nothing is', () => {
    const window = new InFlightWindow(limits)
    window.sent(15_999)
    expect(window.roomBytes).toBe(1)
    window.sent(50_000)
    expect(window.roomBytes).toBe(0)
    window.probed(1, 0)
    expect(window.answered(2, 10)).toBe(false)
    expect(window.answered(1, 10)).toBe(true)
    expect(window.roomBytes).toBe(window.windowBytes)
    expect(window.answered(1, 10)).toBe(false)
  })

  it('hears of what has arrived though answers take seconds', () => {
    const window = new InFlightWindow(limits)
    const answers: { token: number; atMs: number }[] = []
    let [token, heard, ignored] = [0, 0, 0]
    for (let nowMs = 0; nowMs < 60_000; nowMs += 25) {
      while (answers[0] !== undefined && answers[0].atMs <= nowMs) {
        if (window.answered(answers.shift()?.token ?? 0, nowMs)) heard++
        else ignored++
      }
      if (window.roomBytes > 0) window.sent(60)
      if (window.probeDueMs(nowMs) > nowMs) continue
      window.probed(++token, nowMs)
      answers.push({ token, atMs: nowMs + 2_500 })
    }
    expect(heard).toBeGreaterThan(20 * ignored)
  })

  it('keeps a bounded number of pings that nobody answers', () => {
    const window = new InFlightWindow(limits)
    for (let token = 1; token <= 65; token++) {
      window.sent(1000)
      window.probed(token, token)
    }
    expect([window.answered(1, 100), window.answered(2, 100)]).toEqual([false, true])
    expect(window.answered(65, 100)).toBe(true)
    expect(window.roomBytes).toBe(window.windowBytes)
  })

  it('does not grow for who does not need it', () => {
    const window = new InFlightWindow(limits)
    for (let i = 0; i < 100; i++) {
      window.sent(100)
      window.probed(i, i * 30)
      window.answered(i, i * 30 + 5)
    }
    expect(window.windowBytes).toBe(limits.firstBytes)
  })

  it('an answer stands for the pings before it', () => {
    const window = new InFlightWindow(limits)
    for (const token of [1, 2, 3]) {
      window.sent(1000)
      window.probed(token, token * 30)
    }
    window.answered(2, 100)
    expect(window.answered(1, 110)).toBe(false)
    expect(window.answered(3, 120)).toBe(true)
    expect(window.probeDueMs(120)).toBe(Infinity)
  })
})
