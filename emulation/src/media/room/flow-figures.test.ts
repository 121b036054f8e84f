import { describe, expect, it } from 'vitest'
import { decodable, freezes, jittersMs, playVoice, type FlowArrival } from './flow-figures.ts'

/** Frames every so many milliseconds, each so long under way; those with undefined do not come. Groups of 10. */
const flow = (everyMs: number, delaysMs: readonly (number | undefined)[]): FlowArrival[] =>
  delaysMs
    .flatMap((delayMs, n) => {
      const [timestampMs, group, object] = [n * everyMs, Math.floor(n / 10), n % 10]
      const isKey = object === 0
      const arrivedMs = timestampMs + (delayMs ?? 0)
      const arrival = { timestampMs, arrivedMs, group, object, isKey, dependency: isKey ? 0 : 1 }
      return delayMs === undefined ? [] : [arrival]
    })
    .sort((a, b) => a.arrivedMs - b.arrivedMs)
const all = { fromMs: 500, untilMs: 2_000 }

describe('a flow', () => {
  it('that is even has no jitter, and one that is not has some', () => {
    expect(jittersMs(flow(20, [5, 5, 5]))).toEqual([0, 0, 0])
    expect(jittersMs(flow(20, [5, 21, 5]))).toEqual([0, 1, 1.9375])
  })

  it('of sound is concealed where it does not come, and recovered from the frame after it', () => {
    const delays = Array.from({ length: 110 }, () => 30)
    const lost = new Set([50, 70, 71, 72])
    expect(playVoice(flow(20, delays), 20, all)).toEqual({ played: 75, recovered: 0, concealed: 0 })
    const steps = playVoice(
      flow(
        20,
        delays
          .map((delay, n) => (lost.has(n) ? NaN : delay))
          .map((delay) => (Number.isNaN(delay) ? undefined : delay)),
      ),
      20,
      all,
    )
    expect(steps.recovered).toBeGreaterThan(0)
    expect(steps.concealed).toBeGreaterThan(0)
    expect(steps.played + steps.recovered + steps.concealed).toBe(75)
  })

  it('of pictures is decoded up to the first that is missing, and from the next key frame on', () => {
    const delays = Array.from({ length: 30 }, (_, n) => (n === 15 ? undefined : 10))
    const shown = decodable(flow(50, delays)).map(({ arrival }) => arrival.timestampMs / 50)
    expect(shown).toEqual([...Array(15).keys(), ...Array.from({ length: 10 }, (_, n) => 20 + n)])
  })

  it('freezes where nothing can be shown', () => {
    const times = Array.from({ length: 40 }, (_, n) => n * 50)
    expect(freezes(times, 50, all)).toBe(0)
    expect(
      freezes(
        times.filter((ms) => ms < 800 || ms > 980),
        50,
        all,
      ),
    ).toBe(1)
    expect(
      freezes(
        times.filter((ms) => ms < 1_700),
        50,
        all,
      ),
    ).toBe(1)
    expect(freezes([], 50, all)).toBe(1)
  })
})
