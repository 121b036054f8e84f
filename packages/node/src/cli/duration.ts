import { nodeError } from '../errors.ts'

const unitMs = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const
const pattern = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/

/** Milliseconds of `500ms`, `10s`, `2m`, `1h` or `1d`, from `minMs` to `maxDays`. Throws USAGE. */
export function parseDurationMs(text: string, option: string, maxDays = 1, minMs = 1): number {
  const match = pattern.exec(text)
  const ms = match ? Number(match[1]) * unitMs[match[2] as keyof typeof unitMs] : Number.NaN
  if (ms >= minMs && ms <= maxDays * unitMs.d) return ms
  const range = maxDays === 1 ? 'up to 24h such as 500ms, 10s or 2m' : `up to ${maxDays}d such as 2h or 30d`
  throw nodeError('USAGE', `--${option} takes a duration ${range}, not "${text}"`)
}

const ageUnits: readonly (readonly [string, number])[] = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1_000],
]

/** In the largest unit of which it has one; clocks may differ. */
export function ageText(ageMs: number): string {
  const [unit, unitMs] = ageUnits.find(([, each]) => ageMs >= each) ?? ['second', 1_000]
  const count = Math.max(0, Math.floor(ageMs / unitMs))
  return `${count} ${unit}${count === 1 ? '' : 's'}`
}
