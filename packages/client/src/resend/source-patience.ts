import type { ResendLimits } from './limits.ts'

/**
 * How long a storage node may take for its next answer, in milliseconds: each may take so long, and all of them together as long as what came
 * takes at the lowest rate.
 */
export function sourcePatienceMs(
  { bytes, waitedMs }: { readonly bytes: number; readonly waitedMs: number },
  { idleTimeoutMs, minSourceBytesPerSecond }: ResendLimits,
): number {
  const allowedMs = idleTimeoutMs + (bytes / minSourceBytesPerSecond) * 1_000
  return Math.max(0, Math.min(idleTimeoutMs, allowedMs - waitedMs))
}
