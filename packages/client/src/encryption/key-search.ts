import {
  bytesOfEpochId,
  encodeCard,
  requestChain,
  type AnswerRecord,
  type Clock,
  type EpochId,
  type NodeId,
} from '@runnel/protocol'
import { LRU } from 'tiny-lru'
import { anyOf, deadline, pause, throwIfAborted } from '../deadline.ts'
import { clientError } from '../errors.ts'
import type { StreamInfo } from '../registry/ports.ts'
import type { KeyFinder, WantedKey } from './key-finder.ts'
import type { KeyPart } from './key-part.ts'
import { isLasting } from './lasting-reasons.ts'
import type { OwnCard } from './own-card.ts'

export interface KeySearchModules {
  readonly clock: Clock
  readonly card: Pick<OwnCard, 'ensure' | 'refresh'>
  readonly keyPart: Pick<KeyPart, 'join' | 'publish' | 'isDenied'>
  readonly finder: Pick<KeyFinder, 'look' | 'lookAgain' | 'replaced' | 'takeAnswer'>
  /** Aborted when nothing is looked for any more. */
  readonly signal: AbortSignal
}

/** A key that is looked for. */
interface Finding {
  readonly publisherId: NodeId
  readonly id: EpochId
  readonly found: Promise<void>
  /** When the newest message that waits for it was sealed: Unix milliseconds. */
  sealedMs: number
}

/** A key that was not found. */
interface GivenUp {
  readonly untilMs: number
  /** Messages that were sealed later may be of a process that is there and uses the key. */
  readonly sealedUntilMs: number
  readonly error: Error
}

/** A key that does not come within this time is given up. */
const maxWaitMs = 30_000
/** A key that was given up is not sought again for this long, unless a new key comes. */
const restMs = 15_000
/** Pause between two requests for keys, and between two searches for one key. */
const pauseMs = 2_000
/**
 * Whoever is there is asked for so long at least, however long storage nodes took; and no longer for a key that is unlikely to come: one whose id
 * has another key, or one that its opener has replaced on a stream without history. Each answers a reader every five seconds.
 */
const minAskMs = 10_000
/** The same where the key that replaced it is known: whoever is there has been asked twice, and its opener has answered. */
const minOpenAskMs = 4_000
/** Pause between two looks whether the user reads with another key now. */
const cardPauseMs = 60_000
/** Keys remembered as not found. */
const maxGivenUp = 1_000

/** Looks for the keys that messages were sealed with, again and again while they may come, and asks whoever is there for them. */
export class KeySearch {
  readonly #stream: StreamInfo
  readonly #modules: KeySearchModules
  readonly #finding = new Map<string, Finding>()
  readonly #givenUp = new LRU<GivenUp>(maxGivenUp)
  /** Aborted when something comes that may help. */
  #news = new AbortController()
  #isTaking = false
  #askedMs = -Infinity
  #refreshedMs = -Infinity
  /** Why what others encrypt for this user's present card cannot be opened here. */
  #withoutCard: Error | undefined

  constructor(stream: StreamInfo, modules: KeySearchModules) {
    this.#stream = stream
    this.#modules = modules
  }

  /** The publishers whose keys are looked for now. */
  get publishers(): readonly NodeId[] {
    return [...this.#finding.values()].map(({ publisherId }) => publisherId)
  }

  /**
   * Finds the key of a publisher's epoch, for a message that was sealed then (Unix milliseconds); afterwards one that was not tried is among
   * the known. Rejects with KEY_NOT_FOUND or ABORTED, or says why this process has not the user's reading key: NO_READING_KEY,
   * READING_KEY_OTHER_GENERATION, READING_KEY_CHANGED, CARD_NEEDS_USER, or that the user refused.
   */
  find(wanted: WantedKey, sealedMs: number): Promise<void> {
    const { publisherId, id } = wanted
    const name = `${publisherId} ${id}`
    const under = this.#finding.get(name)
    if (under !== undefined) {
      under.sealedMs = Math.max(under.sealedMs, sealedMs)
      return under.found
    }
    const givenUp = this.#givenUp.get(name)
    const isResting = givenUp !== undefined && this.#modules.clock.monotonicMs() < givenUp.untilMs
    if (isResting && sealedMs <= givenUp.sealedUntilMs) return Promise.reject(givenUp.error)
    const found = this.#find(wanted, name).finally(() => this.#finding.delete(name))
    this.#finding.set(name, { publisherId, id, found, sealedMs })
    return found
  }

  /** Something came that may help. */
  wake(): void {
    this.#givenUp.clear()
    if (this.#finding.size === 0) return
    this.#news.abort()
    this.#news = new AbortController()
  }

  /** An answer for this user. One after the other: opening takes time, and anybody can send some. */
  takeAnswer(record: AnswerRecord): void {
    if (this.#isTaking || this.#finding.size === 0) return
    this.#isTaking = true
    // What fails here fails also in the look that waits for it, and is thrown there.
    const done = () => (this.#isTaking = false)
    this.#modules.finder.takeAnswer(record, this.#modules.signal).then(done, done)
  }

  async #find(wanted: WantedKey, name: string): Promise<void> {
    const { publisherId, id } = wanted
    const { clock, signal, finder, keyPart } = this.#modules
    const startMs = clock.monotonicMs()
    let limited: ReturnType<typeof deadline> | undefined
    let sealedUntilMs: number | undefined
    try {
      if (await finder.look(wanted, signal)) return
      if (!keyPart.isDenied) await this.#ask()
      const askedMs = clock.monotonicMs()
      limited = deadline(clock, Math.max(minAskMs, startMs + maxWaitMs - askedMs), signal)
      // The looks that follow use what it brings.
      void this.#refreshCard(limited.signal)
      // Nobody answers a user who may not read.
      while (!limited.signal.aborted && !keyPart.isDenied && sealedUntilMs === undefined) {
        await this.#ask()
        await pause(clock, pauseMs, anyOf(limited.signal, this.#news.signal))
        if (await finder.lookAgain(wanted, signal)) return
        const askingMs = clock.monotonicMs() - askedMs
        if (askingMs >= minOpenAskMs)
          sealedUntilMs = await this.#unlikelyUntilMs(wanted, this.#finding.get(name)?.sealedMs, askingMs)
      }
    } catch (error) {
      throwIfAborted(signal)
      throw error
    } finally {
      limited?.end()
    }
    throwIfAborted(signal)
    const seconds = Math.round((clock.monotonicMs() - startMs) / 1000)
    const detail = `${id} of ${publisherId} in ${this.#stream.id}, after ${seconds} s`
    const error = this.#withoutCard ?? clientError('KEY_NOT_FOUND', detail)
    const untilMs = clock.monotonicMs() + restMs
    this.#givenUp.set(name, { untilMs, sealedUntilMs: sealedUntilMs ?? Infinity, error })
    throw error
  }

  /** The key is unlikely to come for what was sealed until then (Unix milliseconds); undefined where one of the messages that wait for it is later. */
  async #unlikelyUntilMs(
    wanted: WantedKey,
    sealedMs = -Infinity,
    askingMs: number,
  ): Promise<number | undefined> {
    const { signal, finder } = this.#modules
    const isLong = askingMs >= minAskMs
    if (isLong && wanted.tried?.length) return Infinity
    const replaced = await finder.replaced(wanted, signal)
    if (replaced === undefined || sealedMs > replaced.sinceMs) return undefined
    return isLong || replaced.isOpen ? replaced.sinceMs : undefined
  }

  /**
   * What was sealed may be for a card that the user took into use elsewhere. That its key cannot be had is no reason not to go on: it is the
   * reason that is given in the end, as no answer to this user can be opened here.
   */
  async #refreshCard(signal: AbortSignal): Promise<void> {
    const nowMs = this.#modules.clock.monotonicMs()
    if (nowMs - this.#refreshedMs < cardPauseMs) return
    this.#refreshedMs = nowMs
    this.#withoutCard = await this.#modules.card.refresh(this.#stream, signal).then(
      () => undefined,
      (error: unknown) => (isLasting(error) ? error : undefined),
    )
  }

  /** Asks whoever is there for all that is looked for. */
  async #ask(): Promise<void> {
    const { clock, card, signal, keyPart } = this.#modules
    keyPart.join()
    const nowMs = clock.monotonicMs()
    if (nowMs - this.#askedMs < pauseMs) return
    this.#askedMs = nowMs
    const ids = new Set([...this.#finding.values()].map(({ id }) => id))
    const own = await card.ensure(this.#stream, signal)
    keyPart.publish(requestChain, {
      kind: 'request',
      card: encodeCard(own),
      wanted: [...ids].slice(0, 64).map((id) => bytesOfEpochId(id)),
    })
  }
}
