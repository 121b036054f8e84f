import { expect, it } from 'vitest'
import { speakersBench } from './speakers-bench.ts'

it('shows several speakers in a page, beside the page alone', { timeout: 180_000 }, async () => {
  const { room, baseline, ratio } = await speakersBench({ speakers: [1, 2], seconds: 2, limitS: 170 })
  const [first] = room
  expect(first).toMatchObject({ speakers: 1 })
  expect(first?.seen).toBeLessThanOrEqual(1)
  const more = {
    framesPerS: first?.framesPerS,
    speakers: first?.speakersCpuShare,
    sounds: first?.soundsOpenedShare,
  }
  for (const figure of [...Object.values(more), first?.browserCpuShare, baseline.framesPerS])
    expect(figure).toBeGreaterThan(0)
  expect(ratio.framesPerS).toBeCloseTo((room.at(-1)?.framesPerS ?? 0) / baseline.framesPerS, 1)
})
