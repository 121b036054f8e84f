import { simError } from '../errors.ts'
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

/** To be said before anything else. */
export function sayBound(minutes: number): void {
  process.stderr.write(`ends within ${minutes} min\n`)
}
