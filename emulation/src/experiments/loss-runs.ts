import type { Place } from '../places/place.ts'
import { analyse, type MessageFigures } from '../session/analysis.ts'
import { sameEdges, type FormedOverlay } from '../session/formed-overlay.ts'
import { clocksMs, type Session } from '../session/session.ts'

/** As in the thesis. */
const intervalMs = 50
const bytes = 64
/** Before packets are lost: floods become thin within the first messages, and a link that has lost packets takes a while until it sends as before. */
const settleMessages = 40
/** Longer than the longest pause of a link that loses so much. */
const quietMs = 60_000

/** How long one takes at most when its overlay has formed: messages are waited for so long after the last one; in the time of the processes. */
export function lossRunMs(messages: number): number {
  return (settleMessages + messages) * intervalMs + 2 * quietMs + clocksMs
}

export interface LossRunsOptions {
  /** Of each node, in a run. */
  readonly messages: number
  /** All runs have the overlay of the first. */
  readonly fixed: boolean
}

/** Of one run. */
export interface LossFigures extends Omit<MessageFigures, 'delaysMs'> {
  /** Every node had every message when the run ended. */
  readonly isComplete: boolean
  readonly overlayKept: boolean
  /** The edges of the overlay as it formed, by the numbers of their ends. */
  readonly formed: FormedOverlay
}

/** Runs one after the other in a fleet, in each of which all nodes publish while packets are lost. */
export class LossRuns {
  readonly #options: LossRunsOptions
  readonly #place: Place
  readonly #session: Session
  /** Of the overlay that stays. */
  #formed: FormedOverlay | undefined
  /** Of each node, in earlier runs in this overlay; and what applications were not given of them, in all. */
  #published = 0
  #undelivered = 0

  constructor(
    options: LossRunsOptions,
    { place, session }: { readonly place: Place; readonly session: Session },
  ) {
    this.#options = options
    this.#place = place
    this.#session = session
  }

  async run(lossPercent: number): Promise<LossFigures> {
    const { fixed, messages } = this.#options
    const session = this.#session
    const formed = await this.#join()
    await this.#publish(settleMessages)
    const sinceMs = await session.pauseForClocks()
    await this.#place.setLoss(lossPercent / 100)
    const isComplete = await this.#publish(messages)
    await this.#place.setLoss(0)
    const published = session.nodes.length * messages
    const publishedBefore = session.nodes.length * this.#published - published
    const counted = { published, publishedBefore, sinceMs }
    const { delaysMs: _, ...figures } = analyse(await session.collect(), counted)
    const overlayKept = sameEdges(formed, await session.overlay())
    const undelivered = figures.undelivered - this.#undelivered
    this.#undelivered = figures.undelivered
    if (!fixed) await this.#leave()
    return { ...figures, undelivered, isComplete, overlayKept, formed }
  }

  /** Overlays form undisturbed; it is their messages that are watched. */
  async #join(): Promise<FormedOverlay> {
    this.#formed ??= await this.#session.join()
    return this.#formed
  }

  async #leave(): Promise<void> {
    await this.#session.reset()
    this.#formed = undefined
    this.#published = 0
    this.#undelivered = 0
  }

  /** All nodes publish. True when every node has all of these messages, and all earlier ones. */
  async #publish(messages: number): Promise<boolean> {
    const session = this.#session
    this.#published += messages
    await session.publish(session.everybody, { messages, intervalMs, bytes })
    await session.published(messages * intervalMs)
    return session.delivered(session.nodes.length * this.#published, quietMs)
  }
}
