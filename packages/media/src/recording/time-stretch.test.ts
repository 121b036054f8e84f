import { describe, expect, it } from 'vitest'
import { TimeStretch } from './time-stretch.ts'

const sampleRate = 48_000
const hertz = 210

/** A tone with an overtone, in frames of 20 ms. */
function stretched(rate: number, seconds: number): Float32Array {
  const stretch = new TimeStretch(rate)
  const given: number[] = []
  for (let frame = 0; frame < seconds * 50; frame++) {
    const samples = Float32Array.from({ length: 960 }, (_, i) => {
      const s = (frame * 960 + i) / sampleRate
      return 0.5 * Math.sin(2 * Math.PI * hertz * s) + 0.2 * Math.sin(4 * Math.PI * hertz * s)
    })
    stretch.push(samples)
    for (;;) {
      const pulled = stretch.pull(960)
      if (pulled === undefined) break
      given.push(...pulled)
    }
  }
  return Float32Array.from(given)
}

/** Of its middle: how often it goes up through 0, in a second. */
function pitchOf(samples: Float32Array): number {
  const middle = samples.slice(sampleRate / 10, samples.length - sampleRate / 10)
  const rises = middle.filter((sample, i) => sample >= 0 && (middle[i - 1] ?? 0) < 0).length
  return (rises * sampleRate) / middle.length
}

describe('sound at another speed', () => {
  it.each([0.5, 2])('is as long as it is to be at %d times, and as high and loud as before', (rate) => {
    const samples = stretched(rate, 2)
    expect(samples.length / sampleRate).toBeGreaterThan(2 / rate - 0.08 / rate)
    expect(samples.length / sampleRate).toBeLessThanOrEqual(2 / rate)
    expect(pitchOf(samples) / hertz).toBeCloseTo(1, 1)
    const loudest = samples.slice(sampleRate / 10).reduce((max, sample) => Math.max(max, Math.abs(sample)), 0)
    expect(loudest).toBeGreaterThan(0.5)
    expect(loudest).toBeLessThan(0.75)
  })

  it('has no steps where pieces meet', () => {
    const samples = stretched(2, 1).slice(sampleRate / 10)
    const steps = samples.map((sample, i) => Math.abs(sample - (samples[i - 1] ?? sample)))
    // The steepest that the tone itself is: its two sines at once.
    const steepest = (2 * Math.PI * hertz * (0.5 + 2 * 0.2)) / sampleRate
    expect(Math.max(...steps)).toBeLessThan(1.3 * steepest)
  })
})
