import type { Random } from '../ports.ts'

/** `crypto.getRandomValues` gives at most this many bytes at once. */
const quotaBytes = 65_536

/** The operating system's randomness, fit for keys and nonces. */
export const systemRandom: Random = {
  next() {
    const [high, low] = crypto.getRandomValues(new Uint32Array(2)) as unknown as [number, number]
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
