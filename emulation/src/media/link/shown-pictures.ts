import type { LinkPicture } from './peer-record.ts'

export interface ShownOptions {
  readonly startUs: number
  /** Pictures that there were to show. */
  readonly count: number
  readonly picturesPerS: number
  readonly picturesOfGroup: number
  /** A picture that comes later than so long after its time is not shown. */
  readonly withinMs: number
}

/** What a decoder shows that goes on with what it has: all that came in time, from the first that needs no other on. */
export function damagedPictures(came: readonly LinkPicture[], options: ShownOptions): LinkPicture[] {
  const inTime = came
    .filter(({ number, atUs }) => number < options.count && atUs <= dueUsOf(number, options))
    .toSorted((a, b) => a.number - b.number)
  const first = inTime.findIndex(({ number }) => number % options.picturesOfGroup === 0)
  return first < 0 ? [] : inTime.slice(first)
}

const dueUsOf = (number: number, { startUs, picturesPerS, withinMs }: ShownOptions): number =>
  startUs + (number * 1_000_000) / picturesPerS + withinMs * 1_000

/** A picture that can be shown: it came in time, and so did all of its group before it. */
export function shownPictures(came: readonly LinkPicture[], options: ShownOptions): LinkPicture[] {
  const { count, picturesOfGroup } = options
  const byNumber = new Map(came.map((picture) => [picture.number, picture]))
  const shown: LinkPicture[] = []
  let rendition: number | undefined
  for (let number = 0; number < count; number++) {
    if (number % picturesOfGroup === 0) rendition = undefined
    const picture = byNumber.get(number)
    const isFirst = number % picturesOfGroup === 0
    const isDecodable = picture !== undefined && (isFirst || picture.rendition === rendition)
    if (!isDecodable || picture.atUs > dueUsOf(number, options)) {
      rendition = undefined
      continue
    }
    rendition = picture.rendition
    shown.push(picture)
  }
  return shown
}
