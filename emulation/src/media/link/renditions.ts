import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { inParallel } from '../../session/in-parallel.ts'
import { clipFrames, ivfOf } from '../clip/ivf-file.ts'
import { ssim } from '../clip/ssim.ts'
import { TestPictures } from '../clip/test-picture.ts'
import { decodeVp8, encodeVp8 } from '../clip/vpx.ts'
import type { LinkPicture } from './peer-record.ts'

const size = { width: 640, height: 360 }
export const picturesPerS = 30
/** Half a second: so quickly can the rate change. */
export const picturesOfGroup = 15
/** The clip begins again after so many. */
const clipPictures = 300
/** In kbit/s; from 256 to 1,280 as in source 002, and below what half of its line carries beside others. */
const ladder = [100, 150, 200, 256, 330, 410, 500, 600, 700, 800, 900, 1_000, 1_280]
/** The likeness of every so many pictures is measured. */
const every = 3
const encodersAtOnce = 2

/** One clip in several rates, and what it was made of. */
export interface Renditions {
  readonly clips: readonly { readonly kbitPerS: number; readonly file: string }[]
  readonly pictures: number
  /** Of these pictures shown at their times, and of the last one where there is none, to the source: the mean. */
  ssimOf(shown: readonly LinkPicture[], fromNumber: number, untilNumber: number): Promise<number>
}

/** Encodes the clip in all rates, into a folder. Throws PROCESS_FAILED, and the signal's reason. */
export async function encodeRenditions(
  directory: string,
  given: AbortSignal,
  pictures = clipPictures,
): Promise<Renditions> {
  const source = new TestPictures(size)
  const sources = Array.from({ length: pictures }, (_, n) => source.picture(n))
  const encoded = await inParallel(
    encodersAtOnce,
    ladder,
    (kbitPerS, signal) => encodeVp8(sources, { size, picturesPerS, picturesOfGroup, kbitPerS, signal }),
    given,
  )
  const frames = encoded.map(clipFrames)
  const clips = ladder.map((kbitPerS, i) => ({ kbitPerS, file: join(directory, `${kbitPerS}-${i}.ivf`) }))
  for (const [i, { file }] of clips.entries()) writeFileSync(file, encoded[i] ?? '')
  const empty = new Uint8Array((size.width * size.height * 3) / 2)
  return {
    ...{ clips, pictures },
    async ssimOf(shown, fromNumber, untilNumber) {
      const decodable = shown.flatMap(({ number, rendition }) => frames[rendition]?.[number % pictures] ?? [])
      const ivf = ivfOf(
        decodable.map(({ data }) => data),
        size,
        picturesPerS,
      )
      const likeness: number[] = []
      let [next, at, last] = [fromNumber, 0, empty]
      const seen = (untilNextPicture: number): void => {
        for (; next < Math.min(untilNextPicture, untilNumber); next++)
          if (next % every === 0) likeness.push(ssim(last, sources[next % pictures] ?? empty, size))
      }
      if (decodable.length > 0)
        await decodeVp8(ivf, size, (picture) => {
          seen(shown[at]?.number ?? untilNumber)
          last = picture.slice()
          at++
        })
      seen(untilNumber)
      return likeness.reduce((sum, value) => sum + value, 0) / likeness.length
    },
  }
}
