import type { UrgentRate } from '@runnel/client'
import { Alarm, type Clock } from '@runnel/protocol'
import { RateTrial } from '../core/rate-trial.ts'
import type { RateShare } from './rate-share.ts'
import type { TrackPublisher } from './track-publisher.ts'

export interface NetworkRateModules {
  readonly clock: Clock
  readonly tracks: ReadonlySet<TrackPublisher>
  readonly share: RateShare
  /** As the client tells it of a partition; undefined when that cannot be followed. */
  urgentRate(partition: number): Promise<UrgentRate | undefined>
}

/**
 * What the network carries of a session's tracks: of the partitions that they are in the least, as each tells what its links carry of all that
 * the user publishes. Partitions without neighbours say nothing.
 */
export class NetworkRate {
  readonly #modules: NetworkRateModules
  readonly #rates = new Map<number, Promise<UrgentRate | undefined>>()
  /** Of those that had links since there were any at all; undefined where there are none now. */
  readonly #told = new Map<number, number | undefined>()
  readonly #trial = new RateTrial()
  readonly #alarm: Alarm
  #isClosed = false

  constructor(modules: NetworkRateModules) {
    this.#modules = modules
    this.#alarm = new Alarm({ onDue: () => this.#shareOut() }, { clock: modules.clock })
  }

  /** There is another track: nothing is known of what its links carry, so it shows that itself. */
  added(): void {
    this.#try()
    this.changed()
  }

  /** Follows the partitions of the tracks that there are now, and no others. */
  changed(): void {
    // Where nothing is sent, nothing new is told.
    const sent = [...this.#modules.tracks].filter(({ isLeftOut }) => !isLeftOut)
    const partitions = new Set(sent.map(({ track }) => track.partition))
    for (const [partition, rate] of this.#rates) {
      if (partitions.has(partition) && !this.#isClosed) continue
      this.#rates.delete(partition)
      this.#told.delete(partition)
      void rate.then((opened) => opened?.close())
    }
    if (this.#isClosed) return
    for (const partition of partitions)
      if (!this.#rates.has(partition)) this.#rates.set(partition, this.#follow(partition))
    this.#shareOut()
  }

  /** Idempotent. */
  close(): void {
    this.#isClosed = true
    this.#alarm.set(Infinity)
    this.changed()
  }

  async #follow(partition: number): Promise<UrgentRate | undefined> {
    const rate = await this.#modules.urgentRate(partition)
    if (rate === undefined) return undefined
    const take = (kbitPerS: number | undefined): void => {
      if (!this.#rates.has(partition)) return
      const hadLinks = this.#told.has(partition)
      if (hadLinks || kbitPerS !== undefined) this.#told.set(partition, kbitPerS)
      if (this.#known.length === 0) this.#told.clear()
      // What went to nobody is as new to its first links as another track. Once: who reads it and then does not, again and again, has it tried no more.
      if (!hadLinks && kbitPerS !== undefined) this.#try()
      this.#shareOut()
    }
    rate.on('rate', take)
    take(rate.kbitPerS)
    return rate
  }

  /** What the partitions with neighbours tell, in kbit/s. */
  get #known(): readonly number[] {
    return [...this.#told.values()].filter((kbitPerS) => kbitPerS !== undefined)
  }

  #try(): void {
    const { share, clock } = this.#modules
    this.#trial.begin(share.leastBitsPerS, clock.monotonicMs())
  }

  #shareOut(): void {
    const known = this.#known
    if (this.#isClosed || known.length === 0) return
    const nowMs = this.#modules.clock.monotonicMs()
    const { share } = this.#modules
    const neededBitsPerS = share.share(this.#trial.rate(1_000 * Math.min(...known), nowMs))
    this.#trial.planned(neededBitsPerS, share.isSilent, nowMs)
    this.#alarm.set(this.#trial.dueMs)
  }
}
