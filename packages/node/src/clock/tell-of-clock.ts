import { errorLine } from '../cli/error-line.ts'
import type { DescribedNetwork } from '../cli/network-source.ts'
import { notice } from '../cli/output.ts'
import { lookAtClock } from './wrong-clock.ts'

export interface ToldClock {
  readonly told: Promise<void>
  requireAccepted(): Promise<void>
  stop(): void
}

/**
 * Tells the person at the terminal that this machine's clock is wrong by minutes. `told` resolves when it is known, or called off by `stop`.
 * `requireAccepted` waits for that, and throws CLOCK_WRONG where the clock is so wrong that others refuse what was published by it.
 */
export function tellOfClock(network: DescribedNetwork): ToldClock {
  const calledOff = new AbortController()
  const looked = lookAtClock(network, calledOff.signal)
  const told = looked.then((clock) => {
    if (typeof clock === 'object') notice(errorLine(clock.error))
  })
  const requireAccepted = async (): Promise<void> => {
    await told
    const clock = await looked
    if (typeof clock === 'object' && !clock.isAccepted) throw clock.error
  }
  return { told, requireAccepted, stop: () => calledOff.abort() }
}
