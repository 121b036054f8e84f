import type { Random } from '../ports.ts'

/** `crypto.getRandomValues` gives at most this many bytes at once. */
const quotaBytes = 65_536

/** Drawn ahead for `next`: asking for one number takes a microsecond or two, which was a quarter of a tracker's time while it improves overlays. */
const ahead = new Uint32Array(1_024)
let used = ahead.length

function nextWord(): number {
  if (used === ahead.length) {
    crypto.getRandomValues(ahead)
    used = 0
  }
  return ahead[used++] as number
}

/** The operating system's randomness, fit for keys and nonces. */
export const systemRandom: Random = {
  next() {
    const [high, low] = [nextWord(), nextWord()]
    return (high * 0x200000 + (low >>> 11)) / 2 ** 53
  },
  bytes(length) {
    const bytes = new Uint8Array(length)
    for (let i = 0; i < length; i += quotaBytes) crypto.getRandomValues(bytes.subarray(i, i + quotaBytes))
    return bytes
  },
  // It has no seed to derive anything from: every generator of the system's is independent already.
  fork: () => systemRandom,
}
