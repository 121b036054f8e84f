/// <reference lib="dom" />
import { afterEach, expect, it, vi } from 'vitest'
import { picture as track } from '../recording/members.testkit.ts'
import { RecordedPictures } from './recorded-pictures.ts'
import { stubVideoDecoder } from './video-decoder.testkit.ts'

afterEach(() => void vi.unstubAllGlobals())

it('goes on past what is decoded but not shown, such as alternative reference frames', async () => {
  stubVideoDecoder()
  const canvas = { getContext: () => ({ drawImage: () => {} }), width: 0, height: 0 }
  const painted = new Set<number>()
  const pictures = new RecordedPictures({
    canvas: canvas as unknown as HTMLCanvasElement,
    painted: (timestampUs) => painted.add(timestampUs),
    damaged: (reason) => expect.fail(reason),
  })
  pictures.show(track.id)
  const times = Array.from({ length: 200 }, (_, i) => 100_000 * i)
  const isShown = (i: number) => i % 10 !== 8
  for (const [i, timestampUs] of times.entries()) {
    const isKey = i % 40 === 0
    const place = { group: Math.floor(i / 40), object: i % 40 }
    const data = Uint8Array.of(isShown(i) ? 1 : 0)
    const layers = { temporalLayer: 0, dependency: isKey ? 0 : 1 }
    pictures.push(track, { isKey, timestampUs, data, ...place, ...layers }, timestampUs / 1_000)
  }
  for (const timestampUs of times) {
    pictures.tick(timestampUs, 3)
    await Promise.resolve()
    pictures.tick(timestampUs, 3)
  }
  expect([...painted]).toEqual(times.filter((_, i) => isShown(i)))
  expect(pictures.isSettled(times.at(-1) ?? 0)).toBe(true)
})

it('says that pictures cannot be shown where there is no decoder, and goes on', () => {
  const canvas = { getContext: () => null } as unknown as HTMLCanvasElement
  const damage: string[] = []
  const pictures = new RecordedPictures({
    canvas,
    painted: () => {},
    damaged: (reason) => damage.push(reason),
  })
  pictures.show(track.id)
  const place = { group: 0, object: 0, temporalLayer: 0, dependency: 0 }
  pictures.push(track, { isKey: true, timestampUs: 0, data: Uint8Array.of(1), ...place }, 0)
  pictures.tick(0, 3)
  expect(damage).toHaveLength(1)
  expect(pictures.isSettled(0)).toBe(true)
})
