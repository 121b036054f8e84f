import { describe, expect, it } from 'vitest'
import { createOpusEncoder, OpusPlayback, samplesPerFrame } from './opus.ts'

/** A voice, nearly: a tone whose pitch and loudness change. */
const samples = Float32Array.from({ length: 100 * samplesPerFrame }, (_, i) => {
  const s = i / 48_000
  return 0.3 * Math.sin(2 * Math.PI * (180 + 60 * Math.sin(4 * s)) * s) * (0.6 + 0.4 * Math.sin(9 * s))
})
const frameAt = (i: number) => samples.slice(i * samplesPerFrame, (i + 1) * samplesPerFrame)

async function encoded(): Promise<Uint8Array[]> {
  using encoder = await createOpusEncoder()
  return Array.from({ length: 100 }, (_, i) => encoder.encode(frameAt(i)))
}

const energy = (a: Float32Array): number => a.reduce((sum, x) => sum + x * x, 0)
const difference = (a: Float32Array, b: Float32Array): number => energy(a.map((x, i) => x - (b[i] ?? 0)))

/** Plays all frames but one in ten, which are played by `instead`; returns how far these are from what was lost, as a share of it. */
async function lossOf(instead: 'frame' | 'recover' | 'conceal' | 'silence'): Promise<number> {
  const packets = await encoded()
  const frames = packets.map((data, i) => ({ timestampUs: i * 20_000, level: 0, data }))
  using whole = await OpusPlayback.create()
  using lossy = await OpusPlayback.create()
  let [wrong, total] = [0, 0]
  for (const [i, frame] of frames.entries()) {
    const right = whole.play({ type: 'frame', frame })
    const isLost = i % 10 === 5
    const next = frames[i + 1] ?? frame
    const heard = lossy.play(
      !isLost || instead === 'frame'
        ? { type: 'frame', frame }
        : instead === 'recover'
          ? { type: 'recover', next, timestampUs: frame.timestampUs }
          : { type: instead, timestampUs: frame.timestampUs },
    )
    if (!isLost || right === undefined) continue
    wrong += difference(right, heard ?? new Float32Array(right.length))
    total += energy(right)
  }
  return wrong / total
}

describe('Opus', () => {
  it('takes what is documented of a frame', async () => {
    const packets = await encoded()
    const bytes = packets.reduce((sum, { length }) => sum + length, 0)
    expect((bytes * 8) / 2).toBeGreaterThan(16_000)
    expect((bytes * 8) / 2).toBeLessThan(40_000)
  })

  it('conceals a lost frame, and recovers it better from the next', async () => {
    const [concealed, recovered] = [await lossOf('conceal'), await lossOf('recover')]
    expect(await lossOf('frame')).toBe(0)
    expect(await lossOf('silence')).toBe(1)
    expect(concealed).toBeLessThan(0.9)
    expect(recovered).toBeLessThan(concealed)
  })

  it('plays a frame that is shorter than the others, with silence behind it', async () => {
    using playback = await OpusPlayback.create(60)
    const packets = await encoded()
    for (const data of packets.slice(0, 10)) {
      const heard = playback.play({ type: 'frame', frame: { timestampUs: 0, level: 0, data } })
      expect(heard).toHaveLength(3 * samplesPerFrame)
      expect(energy(heard?.slice(samplesPerFrame) ?? samples)).toBe(0)
      expect(energy(heard ?? samples)).toBeGreaterThan(0)
    }
    expect(playback.malformed).toBe(0)
  })

  it('conceals what is not Opus, and counts it', async () => {
    using playback = await OpusPlayback.create()
    const play = (data: Uint8Array) =>
      playback.play({ type: 'frame', frame: { timestampUs: 0, level: 0, data } })
    const [packet = new Uint8Array()] = await encoded()
    expect(play(packet)).toHaveLength(samplesPerFrame)
    // Three frames in one packet, which says 20 ms.
    for (const data of [Uint8Array.of(255, 255, 255), new Uint8Array(0), Uint8Array.of(0xfb, 3, 0, 0, 0)])
      expect(play(data)).toHaveLength(samplesPerFrame)
    expect(playback.malformed).toBe(3)
  })
})
