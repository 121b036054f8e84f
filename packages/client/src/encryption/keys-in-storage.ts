import { isRunnelError, oneAtATime, untilAborted, type Cancel, type Clock } from '@runnel/protocol'
import { pause, throwIfAborted } from '../deadline.ts'
import { clientError } from '../errors.ts'
import type { MessagePlace } from '../resend/wait-for-storage.ts'
import type { Background } from './background.ts'
import type { Opener } from './opener.ts'
import { retryPauseMs } from './retry-pause.ts'
import { UnconfirmedRecords, type UnconfirmedRecordsModules } from './unconfirmed-records.ts'

export interface KeysInStorageModules extends UnconfirmedRecordsModules {
  readonly clock: Clock
  readonly opener: () => Pick<Opener, 'settled' | 'announce' | 'isAnnounced'>
  readonly background: Background
  /** Aborted when nothing is published any more. */
  readonly signal: AbortSignal
}

/** Before keys that are not stored are waited for again. */
const keysPauseMs = 1_000

/** Sees to it that storage nodes have the keys of a stream that were made here, the links to them, and what others asked for. */
export class KeysInStorage {
  readonly #streamId: string
  readonly #modules: KeysInStorageModules
  /** Keys that were made here, and links to them. */
  readonly #unconfirmed: UnconfirmedRecords
  /** What others asked for. */
  readonly #answers: UnconfirmedRecords
  #cancelRetry: Cancel | undefined
  /** Times in a row that records were not stored. */
  #unstored = 0
  #isClosed = false

  constructor(options: { readonly streamId: string }, modules: KeysInStorageModules) {
    this.#streamId = options.streamId
    this.#modules = modules
    this.#unconfirmed = new UnconfirmedRecords(modules)
    this.#answers = new UnconfirmedRecords(modules)
  }

  /** A key was published, or a link. */
  add(place: MessagePlace): void {
    this.#unconfirmed.add(place)
  }

  /** What somebody asked for was published. */
  addAnswer(place: MessagePlace): void {
    this.#answers.add(place)
  }

  /** The stream has no storage node: keys are only where somebody has them. */
  get isUnstored(): boolean {
    return this.#unconfirmed.isUnstored || this.#answers.isUnstored
  }

  /** Whether what was published is stored. Whoever does not find its key asks for it. */
  async confirmed(): Promise<boolean> {
    try {
      await Promise.all([this.#settleKeys(), this.#answers.settle(this.#modules.signal)])
      this.#unstored = 0
      return true
    } catch (error) {
      if (!isRunnelError(error)) throw error
      this.#retryLater()
      return false
    }
  }

  /** What is not stored is tried again: there may be storage nodes now. */
  storeAgain(): void {
    this.#cancelRetry?.()
    this.#cancelRetry = undefined
    this.#modules.background.run(async () => void (await this.confirmed()))
  }

  /** Resolves when what was published is stored. Throws what `stored` throws. */
  async settled(signal: AbortSignal): Promise<void> {
    const { background, opener } = this.#modules
    await background.settled()
    await opener().settled()
    await Promise.all([this.#unconfirmed.settle(signal), this.#answers.settle(signal)])
  }

  /**
   * Resolves when storage nodes have the keys that were made here, and the links to them, or this is closed. Tries until the signal is aborted:
   * throws ABORTED.
   */
  async keysStored(signal: AbortSignal): Promise<void> {
    for (;;) {
      try {
        return await untilAborted(this.#storeKeys(), signal)
      } catch (error) {
        if (!isRunnelError(error) && !signal.aborted) throw error
      }
      if (this.#isClosed) return
      await pause(this.#modules.clock, keysPauseMs, signal)
      throwIfAborted(signal)
    }
  }

  /** Resolves when what was published is stored, or cannot be now. */
  async finish(signal: AbortSignal): Promise<void> {
    // What else keeps it from being stored, nobody can mend now.
    const stored = this.#modules
      .opener()
      .announce(signal)
      .then(() => this.settled(signal))
    await untilAborted(stored, signal).catch((error: unknown) => {
      if (!isRunnelError(error) && !signal.aborted) throw error
    })
  }

  /** Nothing is tried again. */
  close(): void {
    this.#isClosed = true
    this.#cancelRetry?.()
  }

  /** Waits for links that are being made, and for what is published; all who wait at once wait together. Throws NOT_STORED_IN_TIME. */
  readonly #storeKeys = oneAtATime(async () => {
    const opener = this.#modules.opener()
    await opener.settled()
    await this.#settleKeys()
    // That may have taken another epoch, with its links.
    await opener.settled()
    await this.#settleKeys()
    if (!opener.isAnnounced) throw clientError('NOT_STORED_IN_TIME', `the keys of ${this.#streamId}`)
  })

  /** Throws what `stored` throws. */
  async #settleKeys(): Promise<void> {
    const { opener, signal } = this.#modules
    await this.#unconfirmed.settle(signal)
    // A storage node that has just been assigned may have been asked too early for the last epoch.
    await opener().announce(signal)
    await this.#unconfirmed.settle(signal)
  }

  /** Where there is no storage node, the registry tells when there is one. */
  #retryLater(): void {
    const { clock, signal } = this.#modules
    if (this.#cancelRetry !== undefined || this.isUnstored || signal.aborted) return
    this.#cancelRetry = clock.schedule(retryPauseMs(++this.#unstored), () => this.storeAgain())
  }
}
