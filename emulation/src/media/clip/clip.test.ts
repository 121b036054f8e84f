import { describe, expect, it } from 'vitest'
import { clipFrames, ivfOf } from './ivf-file.ts'
import { ssim } from './ssim.ts'
import { TestPictures } from './test-picture.ts'
import { decodeVp8, encodeVp8 } from './vpx.ts'

const size = { width: 320, height: 180 }
const pictures = new TestPictures(size)

async function decoded(ivf: Uint8Array): Promise<number[]> {
  const likeness: number[] = []
  await decodeVp8(ivf, size, (picture) =>
    likeness.push(ssim(picture, pictures.picture(likeness.length), size)),
  )
  return likeness
}

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length

describe('structural similarity', () => {
  it('is 1 for the same picture, and less for others', () => {
    const [first, second] = [pictures.picture(0), pictures.picture(1)]
    expect(ssim(first, first, size)).toBeCloseTo(1)
    const [near, far] = [ssim(first, second, size), ssim(first, pictures.picture(300), size)]
    expect(near).toBeLessThan(0.95)
    expect(far).toBeLessThan(near)
    expect(
      ssim(
        first,
        first.map((light) => light + 3),
        size,
      ),
    ).toBeGreaterThan(0.95)
  })
})

describe('the clip', () => {
  it('is encoded and decoded by libvpx, better with more bits', async () => {
    const source = Array.from({ length: 30 }, (_, n) => pictures.picture(n))
    const options = { size, picturesPerS: 15, picturesOfGroup: 15 }
    const [low, high] = await Promise.all(
      [60, 600].map((kbitPerS) => encodeVp8(source, { ...options, kbitPerS })),
    )
    if (low === undefined || high === undefined) throw new Error('both are there')
    const frames = clipFrames(high)
    expect(frames.map(({ isKey }) => isKey)).toEqual(Array.from({ length: 30 }, (_, n) => n % 15 === 0))
    expect(low.length).toBeLessThan(high.length)
    const [poor, good] = [await decoded(low), await decoded(high)]
    expect([poor.length, good.length]).toEqual([30, 30])
    expect(mean(poor)).toBeLessThan(mean(good))
    // Its frames are the same file again.
    expect(
      await decoded(
        ivfOf(
          frames.map(({ data }) => data),
          size,
          15,
        ),
      ),
    ).toEqual(good)
  })

  it('is encoded no further once the encoder is told to end', async () => {
    const stop = new AbortController()
    function* endless(): Generator<Uint8Array> {
      for (let n = 0; ; n++) {
        if (n === 5) stop.abort(new Error('enough'))
        yield pictures.picture(0)
      }
    }
    const options = { size, picturesPerS: 15, picturesOfGroup: 15, kbitPerS: 60, signal: stop.signal }
    await expect(encodeVp8(endless(), options)).rejects.toThrow('enough')
  })

  it('says why a file cannot be decoded', async () => {
    await expect(decoded(Uint8Array.of(1, 2, 3))).rejects.toMatchObject({ code: 'PROCESS_FAILED' })
  })
})
