import type { Options } from 'yargs'
import { benchError } from '../errors.ts'

/** Whole numbers that an option takes. */
interface Range {
  readonly min: number
  readonly max: number
}

const most = 1_000_000_000
/** Seconds: a day. What timers hold is not much more. */
const longestLimitS = 86_400

/** From 1, or from 0 where there may be none. */
export const counted = (range: Partial<Range> = {}): Range => ({ min: 1, max: most, ...range })

/** An option that is a whole number. */
export const count = (value: number, describe?: string, range: Partial<Range> = {}) => ({
  type: 'number' as const,
  default: value,
  ...(describe === undefined ? {} : { describe }),
  ...counted(range),
})

/** Throws INVALID_ARGUMENT unless each option that has a range was given whole numbers of it, and the limit is one that a timer can wait for. */
export function checkCounts(
  options: Readonly<Record<string, Options>>,
  given: Readonly<Record<string, unknown>>,
): void {
  const { limit } = given
  if (!(typeof limit === 'number' && limit > 0 && limit <= longestLimitS))
    throw benchError('INVALID_ARGUMENT', `--limit is more than 0 and at most ${longestLimitS} seconds`)
  for (const [name, option] of Object.entries(options)) {
    if (!isRanged(option)) continue
    const { min, max } = option
    const value = given[name]
    const values: unknown[] = option.type === 'array' && Array.isArray(value) ? value : [value]
    const isOf = (one: unknown) => Number.isSafeInteger(one) && Number(one) >= min && Number(one) <= max
    if (values.length > 0 && values.every(isOf)) continue
    throw benchError('INVALID_ARGUMENT', `--${name} is a whole number from ${min} to ${max}`)
  }
}

const isRanged = (option: Options): option is Options & Range => 'min' in option && 'max' in option
