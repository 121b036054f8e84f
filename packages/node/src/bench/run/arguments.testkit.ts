import { benchOptions, type BenchArguments } from '../../commands/bench-options.ts'

/** Options as yargs gives them: what is not given has its default. */
export function argsWith<T extends object>(given: T): BenchArguments & T {
  const defaults = Object.entries(benchOptions).map(([name, option]) => [
    name,
    'default' in option ? option.default : undefined,
  ])
  return { ...Object.fromEntries(defaults), ...given } as BenchArguments & T
}
