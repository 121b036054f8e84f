import type { Clock, EncryptionChoice, EpochRecord } from '@runnel/protocol'
import { clockToleranceMs, type ReaderSet } from './reader-set.ts'

export interface EpochTermsModules {
  readonly clock: Pick<Clock, 'now'>
  readonly readers: Pick<ReaderSet, 'gains' | 'losses' | 'lossBlock' | 'lastEndMs'>
}

/** A day. */
const dayMs = 86_400_000

/** How long an epoch can be used: until it is too old, or somebody may not read any more, or comes and may not read what was before. */
export class EpochTerms {
  readonly #choice: EncryptionChoice
  readonly #modules: EpochTermsModules
  /** How often the key holder changed its epoch. */
  #followed = 0

  constructor(choice: EncryptionChoice, modules: EpochTermsModules) {
    this.#choice = choice
    this.#modules = modules
  }

  /** The key holder has another epoch. */
  follow(): void {
    this.#followed++
  }

  /** All after which an epoch has to be replaced, counted. */
  changes(wallMs: number): number {
    const { readers } = this.#modules
    const gains = this.#choice.history === 'none' ? readers.gains(wallMs) : 0
    return readers.losses(wallMs) + gains + this.#followed
  }

  /** Whether it was made after somebody last lost the right to read: whoever was given its key since may still read. */
  regardsLosses(
    { readersAtBlock, createdMs }: Pick<EpochRecord, 'readersAtBlock' | 'createdMs'>,
    nowMs: number,
  ): boolean {
    const { readers } = this.#modules
    return readersAtBlock >= readers.lossBlock && createdMs >= readers.lastEndMs(nowMs)
  }

  /** Unix milliseconds: when it is too old. A date that is still to come does not make it younger. */
  endMs({ createdMs }: Pick<EpochRecord, 'createdMs'>): number {
    const { rotateAfterDays = 7 } = this.#choice
    return Math.min(createdMs, this.#modules.clock.now()) + rotateAfterDays * dayMs
  }

  /**
   * Unix milliseconds: the date of a new epoch. Now, and not before the epoch to which it leads, so that nobody can go back to one whose time
   * had run out when it was made. The clock there may have been ahead of this one.
   */
  dateAfter(lastMs: number): number {
    const nowMs = this.#modules.clock.now()
    const leadsBack = this.#choice.history !== 'none'
    return leadsBack ? Math.max(nowMs, Math.min(lastMs, nowMs + clockToleranceMs)) : nowMs
  }
}
