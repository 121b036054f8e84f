import {
  countsCapability,
  RareMap,
  type Clock,
  type Count,
  type NodeId,
  type StreamPartId,
} from '@runnel/protocol'
import type { Way } from '../core/tracker-link/way.ts'
import { networkError } from '../errors.ts'
import type { NodeCount } from '../ports.ts'
import type { TrackerConnections } from './tracker-connections.ts'
import type { Waiters } from './waiters.ts'

export interface CountQuestionsModules {
  readonly clock: Clock
  readonly waiters: Waiters
  readonly trackers: Pick<TrackerConnections, 'send' | 'hasCapability'>
  /** The way to the tracker that has taken this node into a stream part; undefined while none has. */
  wayTo(streamPartId: StreamPartId): Way | undefined
  /** Throws where the node does not run, or is not in the stream part. */
  assertJoined(streamPartId: StreamPartId): void
  /** An answer to what was not asked. */
  unexpected(trackerId: NodeId): void
}

interface Question {
  readonly streamPartId: StreamPartId
  /** The tracker that was asked; undefined until one was. */
  trackerId: NodeId | undefined
  count: NodeCount | undefined
  error: Error | undefined
}

/** What trackers are asked of how many nodes are in stream parts. */
export class CountQuestions {
  readonly #options: { readonly countRetryMs: number; readonly timeoutMs: number }
  readonly #modules: CountQuestionsModules
  readonly #open = new RareMap<number, Question>()
  #lastId = 0

  constructor(
    options: { readonly countRetryMs: number; readonly timeoutMs: number },
    modules: CountQuestionsModules,
  ) {
    this.#options = options
    this.#modules = modules
  }

  /** Asks again and again, as its tracker may be another one meanwhile. */
  async ask(streamPartId: StreamPartId, signal?: AbortSignal): Promise<NodeCount> {
    const { clock, waiters, assertJoined } = this.#modules
    const { countRetryMs, timeoutMs } = this.#options
    assertJoined(streamPartId)
    signal?.throwIfAborted()
    const requestId = (this.#lastId = (this.#lastId + 1) >>> 0)
    const question: Question = { streamPartId, trackerId: undefined, count: undefined, error: undefined }
    this.#open.set(requestId, question)
    let cancelRetry = () => {}
    const send = (): void => {
      this.#send(requestId, question)
      cancelRetry = clock.schedule(countRetryMs, send)
    }
    const cancelTimeout = clock.schedule(timeoutMs, () => {
      question.error = networkError('TRACKER_LOST', `no answer on how many are in ${streamPartId}`)
      waiters.check()
    })
    try {
      send()
      await waiters.wait(() => {
        assertJoined(streamPartId)
        if (question.error !== undefined) throw question.error
        return question.count !== undefined
      }, signal)
      return question.count ?? { readers: 0, feeders: 0 }
    } finally {
      cancelRetry()
      cancelTimeout()
      this.#open.delete(requestId)
    }
  }

  /** A tracker may have taken this node into a stream part: it can be asked now. */
  look(): void {
    for (const [requestId, question] of this.#open)
      if (question.trackerId === undefined) this.#send(requestId, question)
  }

  answered(trackerId: NodeId, { requestId, readers, feeders }: Count): void {
    const question = this.#open.get(requestId)
    if (question?.trackerId !== trackerId) return this.#modules.unexpected(trackerId)
    question.count = { readers, feeders }
    this.#modules.waiters.check()
  }

  #send(requestId: number, question: Question): void {
    const { trackers, waiters, wayTo } = this.#modules
    const { streamPartId } = question
    const way = wayTo(streamPartId)
    if (way === undefined) return
    question.trackerId = way.trackerId
    if (trackers.hasCapability(way, countsCapability)) {
      trackers.send(way, { type: 'askCount', requestId, streamPartId })
      return
    }
    question.error = networkError(
      'COUNT_UNAVAILABLE',
      `the tracker ${way.trackerId} is of an earlier version`,
    )
    waiters.check()
  }
}
