/** Many byte strings as one, which moves between threads without being copied. */
export interface Packed {
  readonly bytes: Uint8Array<ArrayBuffer>
  /** Where each string ends. */
  readonly ends: Uint32Array<ArrayBuffer>
}

export function pack(parts: readonly Uint8Array[]): Packed {
  const ends = new Uint32Array(parts.length)
  let length = 0
  parts.forEach((part, index) => (ends[index] = length += part.length))
  const bytes = new Uint8Array(length)
  parts.forEach((part, index) => bytes.set(part, (ends[index] ?? 0) - part.length))
  return { bytes, ends }
}

/** The strings again, as views. */
export function unpack({ bytes, ends }: Packed): Uint8Array[] {
  return Array.from(ends, (end, index) => bytes.subarray(index === 0 ? 0 : ends[index - 1], end))
}

/** The buffers to transfer instead of copying. */
export function transferOf({ bytes, ends }: Packed): ArrayBuffer[] {
  return [bytes.buffer, ends.buffer]
}
