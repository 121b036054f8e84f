import { nodeError } from '../errors.ts'

const unitMs = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 } as const
const pattern = /^(\d+(?:\.\d+)?)(ms|s|m|h)$/

/** Milliseconds of `500ms`, `10s`, `2m` or `1h`. Throws USAGE. */
export function parseDurationMs(text: string, option: string): number {
  const match = pattern.exec(text)
  const ms = match ? Number(match[1]) * unitMs[match[2] as keyof typeof unitMs] : Number.NaN
  if (!(ms >= 1 && ms <= 24 * unitMs.h)) {
    throw nodeError('USAGE', `--${option} takes a duration up to 24h such as 500ms, 10s or 2m, not "${text}"`)
  }
  return ms
}
