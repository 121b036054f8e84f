import type { Options } from 'yargs'
import { simError } from '../errors.ts'
import { wholeNumbers } from './arguments.ts'
import { showProgress } from './progress.ts'

/** Of `--minutes`: a week. */
export const maxMinutes = 10_080

interface TimeBound {
  /** Of real time. */
  readonly minutes: number
  /** By `nowMs`, which counts milliseconds from anywhere. */
  nowMs?(): number
}

/**
 * What an experiment calls now and then with how far it is: shows that, and throws TOO_SLOW once the minutes from here on are over. In virtual time nothing
 * else can end it, as one event follows the other without a pause.
 */
export function progressWithin({ minutes, nowMs = () => performance.now() }: TimeBound) {
  const untilMs = nowMs() + 60_000 * minutes
  return (text: string): void => {
    if (nowMs() > untilMs) throw simError('TOO_SLOW', `${text}, after ${minutes} min`)
    showProgress(text)
  }
}

/** `--minutes`, as an option of a command. */
export function minutesOption(usual: number) {
  return {
    minutes: { type: 'number', default: usual, describe: 'of real time, after which it fails' },
  } as const satisfies Record<string, Options>
}

/** `--minutes` of a command whose other options say how long it takes. */
export const someMinutesOption = {
  minutes: { type: 'number', describe: 'of real time, after which it fails; unless given, as it prints' },
} as const satisfies Record<string, Options>

/** Says how long a command takes at most, and begins to count. Returns what `progressWithin` does. Throws INVALID_ARGUMENT. */
export function beginBound({ minutes }: Pick<TimeBound, 'minutes'>): (text: string) => void {
  checkMinutes(minutes)
  sayBound(minutes)
  return progressWithin({ minutes })
}

/** Throws INVALID_ARGUMENT where they are none that `--minutes` takes. */
export function checkMinutes(minutes: number): void {
  wholeNumbers({ minutes }, maxMinutes)
}

/** To be said before anything else. */
export function sayBound(minutes: number): void {
  process.stderr.write(`ends within ${minutes} min\n`)
}
