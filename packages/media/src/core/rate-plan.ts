/** Bytes of a message beside the encoded frame: places, signature, packet, and the header of the frame. */
const messageBytes = 200
/** A rendition that was given up is taken up again when there is so much more than it needs, so that it does not come and go. */
const reserve = 1.2

/** What a track can be encoded with, in bits a second without what messages take. */
export interface PlannedRendition {
  readonly minBitsPerS: number
  readonly maxBitsPerS: number
  readonly framesPerS: number
}

export interface RatePlan {
  /** For each audio track; what it always has. */
  readonly audioBitsPerS: readonly number[]
  /** For each rendition, the lowest first; 0 for none: it pauses. */
  readonly videoBitsPerS: readonly number[]
}

/** What a plan takes with what messages take, when the lowest of the renditions that pause comes back; undefined where none pauses. */
export function neededBitsPerS(
  { audioBitsPerS, videoBitsPerS }: RatePlan,
  audio: readonly PlannedRendition[],
  video: readonly PlannedRendition[],
): number | undefined {
  const paused = videoBitsPerS.indexOf(0)
  const next = video[paused]
  if (next === undefined) return undefined
  const below = video.slice(0, paused)
  const frames = [...audio, ...below, next].reduce((sum, { framesPerS }) => sum + framesPerS, 0)
  const ofThose = [...audioBitsPerS, ...below.map(({ maxBitsPerS }) => maxBitsPerS)]
  return ofThose.reduce((sum, bitsPerS) => sum + bitsPerS, reserve * next.minBitsPerS) + overheadOf(frames)
}

const overheadOf = (perS: number): number => perS * messageBytes * 8

/**
 * Shares a rate out: sound first, whatever it is; then the lowest rendition, and the next only when all below have what they can use. A
 * rendition that does not get its least pauses, with all above it. `before` is what was planned last.
 */
export function planRate(
  targetBitsPerS: number,
  audio: readonly PlannedRendition[],
  video: readonly PlannedRendition[],
  before?: RatePlan,
): RatePlan {
  const audioBitsPerS = audio.map(({ maxBitsPerS }) => maxBitsPerS)
  const ofAudio = audio.reduce(
    (sum, { maxBitsPerS, framesPerS }) => sum + maxBitsPerS + overheadOf(framesPerS),
    0,
  )
  let left = targetBitsPerS - ofAudio
  let isOpen = true
  const videoBitsPerS = video.map(({ minBitsPerS, maxBitsPerS, framesPerS }, i) => {
    const available = left - overheadOf(framesPerS)
    const isPaused = before !== undefined && before.videoBitsPerS[i] === 0
    isOpen &&= available >= minBitsPerS * (isPaused ? reserve : 1)
    if (!isOpen) return 0
    const bitsPerS = Math.min(maxBitsPerS, Math.floor(available))
    left = available - bitsPerS
    isOpen = bitsPerS === maxBitsPerS
    return bitsPerS
  })
  return { audioBitsPerS, videoBitsPerS }
}
