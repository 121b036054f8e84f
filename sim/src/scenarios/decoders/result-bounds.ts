/**
 * What is wrong with the size of something that was decoded; undefined for nothing. Its letters, entries and copied bytes
 * are in proportion to the bytes it came in.
 */
export function boundsFault(decoded: unknown, bytes: Uint8Array): string | undefined {
  const size = sizeOf(decoded, bytes, new Set())
  const limit = perByte * bytes.length + few
  return size > limit ? `${size} letters, entries and bytes out of ${bytes.length} bytes` : undefined
}

/** An id has two letters a byte, and a date of six bytes is one entry. */
const perByte = 4
/** A packet without a body has a type all the same, and no more fields than this. */
const few = 100

/** Bytes that are views of where they came from cost nothing, and text that was said once is kept once. */
function sizeOf(value: unknown, bytes: Uint8Array, texts: Set<string>): number {
  if (typeof value === 'string') return texts.size === texts.add(value).size ? 1 : value.length
  if (value instanceof Uint8Array) return value.buffer === bytes.buffer ? 1 : value.buffer.byteLength
  if (typeof value !== 'object' || value === null) return 1
  let size = 1
  for (const each of Array.isArray(value) ? value : Object.values(value)) size += sizeOf(each, bytes, texts)
  return size
}
