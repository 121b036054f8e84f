import type { z } from 'zod'
import { mediaLimits } from '../limits.ts'

const codec = `a codec string of WebCodecs, such as "vp8", of audio "opus", of up to ${mediaLimits.maxTextLength} printable characters`
const oneOrMore = 'a whole number from 1 to 1000000000'
const pixels = 'a whole number of pixels from 1 to 16384'

/** What each field of a track and of a member must be. */
const wanted: Readonly<Record<string, string>> = {
  kind: '"audio" or "video"',
  source: '"microphone", "camera", "screen" or "file"',
  codec,
  bitrate: `${oneOrMore}, in bits a second`,
  state: '"live", "muted" or "paused"',
  id: 'a whole number from 0 to 255',
  partition: 'a whole number from 0 to 99',
  sampleRate: 'one that Opus has: 8000, 12000, 16000, 24000 or 48000 samples a second',
  numberOfChannels: 'a whole number from 1 to 8',
  frameMs: 'a length that Opus has: a multiple of 2.5 ms, up to 120',
  codedWidth: pixels,
  codedHeight: pixels,
  framerate: 'a number of pictures a second above 0, up to 240',
  altGroup: 'a whole number from 0 to 255',
  minBitsPerS: 'a number of bits a second from 0',
  rendition: 'a whole number from 0, the lowest',
  name: 'text',
  decodes: `a list of up to ${mediaLimits.maxCodecs} codecs, each ${codec}`,
  replaces: 'the id of an earlier session: 16 digits from 0-9 a-f',
}

/** What is wrong with a value, in words for who gave it; undefined where nothing is. */
export function firstMistake(
  value: object,
  { error }: { readonly error?: z.ZodError | undefined },
): string | undefined {
  if (error === undefined) return undefined
  const [issue] = error.issues
  if (issue?.code === 'unrecognized_keys') return `it has no field "${issue.keys[0]?.slice(0, 40)}"`
  const field = issue?.path[0]
  if (field === undefined) return `it must have the fields that are described; it is ${shortText(value)}`
  const given = (value as Readonly<Record<PropertyKey, unknown>>)[field]
  const is = given === undefined ? 'it is missing' : `it is ${shortText(given)}`
  return `${String(field)} must be ${wanted[String(field)] ?? 'something else'}; ${is}`
}

function shortText(value: unknown): string {
  const text = textOf(value)
  return text.length > 40 ? `${text.slice(0, 40)}…` : text
}

/** JSON, where it has such a value: it has no NaN, no BigInt, and nothing that refers to itself. */
function textOf(value: unknown): string {
  if (typeof value === 'number' || typeof value === 'bigint') return String(value)
  try {
    return JSON.stringify(value) ?? typeof value
  } catch {
    return typeof value
  }
}
