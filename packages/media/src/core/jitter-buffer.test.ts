import { describe, expect, it } from 'vitest'
import { mediaLimits } from '../limits.ts'
import { JitterBuffer, type AudioStep } from './jitter-buffer.ts'

const frameMs = 20
const frame = (number: number, level = 30) => ({
  ...{ timestampUs: number * frameMs * 1_000, level },
  data: Uint8Array.of(number % 256),
})

/** What is played when each frame arrives so many milliseconds after it was recorded; undefined never arrives. */
function play(
  delaysMs: readonly (number | undefined)[],
  extraSteps = 0,
  levelOf: (number: number) => number = () => 30,
) {
  const buffer = new JitterBuffer({ frameMs })
  const arrivals = delaysMs
    .flatMap((delayMs, number) =>
      delayMs === undefined ? [] : [{ number, atMs: number * frameMs + delayMs }],
    )
    .sort((a, b) => a.atMs - b.atMs)
  const steps: AudioStep[] = []
  for (let nowMs = 0; nowMs < (delaysMs.length + extraSteps) * frameMs; nowMs += frameMs) {
    while (arrivals[0] !== undefined && arrivals[0].atMs <= nowMs) {
      const { number, atMs } = arrivals.shift() ?? { number: 0, atMs: 0 }
      buffer.push(frame(number, levelOf(number)), atMs)
    }
    steps.push(buffer.pull(nowMs))
  }
  return { buffer, steps }
}

const numbersOf = (steps: readonly AudioStep[]) =>
  steps.flatMap((step) => (step.type === 'frame' ? [step.frame.timestampUs / frameMs / 1_000] : []))
const repeated = <T>(count: number, value: T): T[] => Array.from({ length: count }, () => value)
/** The same at each run: from 0 to `max`. */
const noise = (count: number, max: number) =>
  Array.from({ length: count }, (_, i) => ((i * 7_919) % 101) * (max / 100))

describe('the jitter buffer', () => {
  it('plays each frame once and in order, soon after it came, where the way is even', () => {
    const { buffer, steps } = play(repeated(100, 50))
    const numbers = numbersOf(steps)
    expect(numbers).toEqual([...numbers].sort((a, b) => a - b))
    expect(new Set(steps.map(({ type }) => type))).toEqual(new Set(['silence', 'frame']))
    expect(buffer.targetMs).toBe(frameMs)
    // 50 ms on the way, and at most two frames here.
    expect(numbers.length).toBeGreaterThanOrEqual(100 - 5)
  })

  it('holds back as much as the way varies, and then conceals next to nothing', () => {
    const { buffer } = play([...noise(500, 80)])
    expect(buffer.targetMs).toBeGreaterThan(70)
    expect(buffer.targetMs).toBeLessThanOrEqual(100)
    const { played, concealed, late, recovered } = buffer.counters
    expect(concealed + late + recovered).toBeLessThan(0.03 * played)
  })

  it('gives what has come ahead of its time, and neither conceals nor waits then', () => {
    const buffer = new JitterBuffer({ frameMs })
    buffer.push(frame(0), 50)
    expect(buffer.pullAhead(60)).toBeUndefined()
    expect(buffer.pullAhead(70)).toMatchObject({ type: 'frame', frame: frame(0) })
    expect(buffer.pullAhead(90)).toBeUndefined()
    buffer.push(frame(1), 75)
    expect(buffer.pullAhead(90)).toMatchObject({ type: 'frame', frame: frame(1) })
    expect(buffer.pull(110)).toMatchObject({ type: 'conceal' })
    expect(buffer.counters).toMatchObject({ played: 2, concealed: 1 })
  })

  it('makes up for a delay also where each frame goes ahead as it comes', () => {
    const buffer = new JitterBuffer({ frameMs })
    let atMs = 0
    const played: number[] = []
    for (let number = 0; number < 600; number++) {
      // The first ones come late, all others evenly.
      const nowMs = number * frameMs + (number < 20 ? 200 - 10 * number : 0)
      buffer.push(frame(number, 127), nowMs)
      for (
        let step;
        (step = atMs <= nowMs ? buffer.pull(atMs) : buffer.pullAhead(atMs)) !== undefined;
        atMs += frameMs
      )
        if (step.type === 'frame') played.push(atMs - step.frame.timestampUs / 1_000)
    }
    expect(Math.max(...played)).toBeGreaterThanOrEqual(180)
    expect(played.at(-1)).toBeLessThanOrEqual(3 * frameMs)
    expect(buffer.counters.concealed).toBe(0)
  })

  it('recovers a lost frame from the next one, and plays all others', () => {
    const delays: (number | undefined)[] = repeated(60, 10)
    delays[20] = undefined
    delays[40] = undefined
    delays[41] = undefined
    const { buffer, steps } = play(delays, 3)
    expect(buffer.counters.late).toBe(0)
    const recover = steps.find((step) => step.type === 'recover')
    expect(recover).toMatchObject({ timestampUs: 400_000, next: { timestampUs: 420_000 } })
    expect(buffer.counters.concealed).toBeLessThanOrEqual(3)
    const all = Array.from({ length: 60 }, (_, i) => i)
    expect(numbersOf(steps)).toEqual(all.filter((i) => delays[i] !== undefined))
  })

  it('plays what is late rather than to leave it out, and makes up for the delay', () => {
    // A stall of 80 ms: everything comes, later.
    const delays = repeated(200, 10).map((delay, i) => (i >= 50 && i < 54 ? delay + (54 - i) * 20 : delay))
    const { buffer, steps } = play(delays, 0, (number) => (number < 80 ? 30 : 60))
    expect(buffer.counters).toMatchObject({ late: 0, recovered: 0 })
    expect(buffer.counters.concealed).toBeGreaterThan(0)
    expect(buffer.counters.concealed).toBeLessThanOrEqual(5)
    const numbers = numbersOf(steps)
    expect(numbers.filter((number) => number >= 50 && number < 54)).toEqual([50, 51, 52, 53])
    expect(buffer.counters.skipped).toBeGreaterThan(0)
  })

  it('is silent after a while without frames, and begins again', () => {
    const delays: (number | undefined)[] = repeated(100, 10)
    for (let i = 30; i < 60; i++) delays[i] = undefined
    const { buffer, steps } = play(delays)
    expect(buffer.counters.concealed).toBe(mediaLimits.maxConcealedFrames)
    expect(steps.slice(40, 60).every(({ type }) => type === 'silence')).toBe(true)
    expect(numbersOf(steps)).toContain(61)
  })

  it('holds no more than its limits, whatever comes', () => {
    const buffer = new JitterBuffer({ frameMs })
    for (let i = 0; i < 3 * mediaLimits.maxJitterFrames; i++) buffer.push(frame(i), 0)
    expect(buffer.size).toBe(mediaLimits.maxJitterFrames)
    for (let i = 0; i < 50; i++) buffer.push(frame(i), i * 5_000)
    expect(buffer.targetMs).toBeLessThanOrEqual(mediaLimits.maxJitterDelayMs)
  })

  it('begins anew when the publisher does', () => {
    const { buffer } = play(repeated(50, 10))
    buffer.push(frame(1_000_000), 5_000)
    buffer.push(frame(1_000_001), 5_020)
    expect(buffer.pull(5_040)).toMatchObject({ type: 'frame', frame: frame(1_000_000) })
  })
})
