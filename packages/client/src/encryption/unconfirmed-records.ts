import { isRunnelError } from '@runnel/protocol'
import type { MessagePlace } from '../resend/wait-for-storage.ts'
import type { KeyPart } from './key-part.ts'

export interface UnconfirmedRecordsModules {
  readonly keyPart: Pick<KeyPart, 'publishAgain'>
  /** Waits until storage nodes have records; rejects when that takes too long. */
  readonly stored: (places: readonly MessagePlace[], signal: AbortSignal) => Promise<void>
}

/** A record that storage nodes do not say they have, and why. */
interface Missing {
  readonly place: MessagePlace
  readonly error: Error
}

/** Records not known to be stored; beyond it, the oldest are not asked for. */
const maxUnconfirmed = 1_000
/** Records that are asked for at once, in the time that is given for one. */
const askedAtOnce = 256
/** How often unstored records are published again, while some are stored each time. */
const maxTimesAgain = 4

/**
 * Records of the key part that storage nodes may not have. Nobody fills gaps in the key part, and a storage node may refuse some of many
 * that come at once: what it does not have after a while is published again.
 */
export class UnconfirmedRecords {
  readonly #modules: UnconfirmedRecordsModules
  /** The newest last. */
  #places: MessagePlace[] = []
  #settling: Promise<void> = Promise.resolve()
  #isUnstored = false

  constructor(modules: UnconfirmedRecordsModules) {
    this.#modules = modules
  }

  /** The stream has no storage node: keys are only where somebody has them. */
  get isUnstored(): boolean {
    return this.#isUnstored
  }

  add(place: MessagePlace): void {
    this.#places.push(place)
    if (this.#places.length > maxUnconfirmed) this.#places.shift()
  }

  /** Resolves when all added so far are stored. Throws what `stored` throws. */
  settle(signal: AbortSignal): Promise<void> {
    const settled = this.#settling.then(() => this.#settle(signal))
    this.#settling = settled.catch(() => {})
    return settled
  }

  async #settle(signal: AbortSignal): Promise<void> {
    let places = this.#takeAll()
    for (let times = 0; places.length > 0; times++) {
      const missing = await this.#missingOf(places, signal)
      const [first] = missing
      this.#isUnstored = isRunnelError(first?.error, 'NO_STORAGE_NODE')
      if (first === undefined) return
      const isLate = missing.every(({ error }) => isRunnelError(error, 'NOT_STORED_IN_TIME'))
      if (!isLate) {
        // Storage nodes may come, or come back.
        for (const { place } of missing) this.add(place)
        throw first.error
      }
      const again = missing.flatMap(({ place }) => this.#modules.keyPart.publishAgain(place) ?? [])
      // Where nothing is stored, perhaps nobody is there to do so.
      if (missing.length === places.length || times === maxTimesAgain) {
        for (const place of again) this.add(place)
        throw first.error
      }
      places = again
    }
  }

  #takeAll(): readonly MessagePlace[] {
    const places = this.#places
    this.#places = []
    return places
  }

  async #missingOf(places: readonly MessagePlace[], signal: AbortSignal): Promise<readonly Missing[]> {
    const missing: Missing[] = []
    for (let i = 0; i < places.length; i += askedAtOnce) {
      const asked = places.slice(i, i + askedAtOnce)
      const answers = await Promise.all(asked.map((place) => this.#ask(place, signal)))
      missing.push(...answers.filter((one) => one !== undefined))
    }
    return missing
  }

  async #ask(place: MessagePlace, signal: AbortSignal): Promise<Missing | undefined> {
    try {
      await this.#modules.stored([place], signal)
      return undefined
    } catch (error) {
      if (!isRunnelError(error)) throw error
      return { place, error }
    }
  }
}
