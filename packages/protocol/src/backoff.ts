/** The pause after `failures` failures in a row: `minMs`, doubled for each after the first, at most `maxMs`. */
export function backoffMs(failures: number, minMs: number, maxMs: number): number {
  return Math.min(maxMs, minMs * 2 ** Math.min(30, Math.max(0, failures - 1)))
}
