import type {
  Clock,
  NodeId,
  FindStorage,
  Storing,
  StorageNodes,
  StreamPartId,
  WantedNeighbour,
} from '@runnel/protocol'
import { networkError } from '../errors.ts'
import { Waiters } from './waiters.ts'

export interface StorageSearchModules {
  readonly clock: Clock
  /** Keeps a tracker of the stream part connected until the function it returns is called. */
  visit(streamPartId: StreamPartId): () => void
  /** The connected tracker of a stream part. */
  trackerOf(streamPartId: StreamPartId): NodeId | undefined
  /** False when it cannot be sent. */
  send(trackerId: NodeId, packet: StorageQuestion): boolean
  assertRunning(): void
}

type StorageQuestion = FindStorage | Storing

interface Question {
  readonly streamPartId: StreamPartId
  /** Who was asked; undefined until a tracker is connected. */
  trackerId: NodeId | undefined
  /** It was asked of a tracker that knows no other: until there is one, nobody is. */
  waits: boolean
  answer: readonly WantedNeighbour[] | undefined
  lost: boolean
}

const unanswered = { trackerId: undefined, waits: false } as const

/** Asks trackers who stores a stream part, and tells them what this node stores. */
export class StorageSearch {
  readonly #timeoutMs: number
  readonly #modules: StorageSearchModules
  readonly #questions = new Map<number, Question>()
  readonly #waiters = new Waiters()
  readonly #offered = new Set<StreamPartId>()
  /** Of those offered, what the tracker knows in its present session. */
  readonly #told = new Set<StreamPartId>()
  #lastId = 0

  constructor(options: { readonly timeoutMs: number }, modules: StorageSearchModules) {
    this.#timeoutMs = options.timeoutMs
    this.#modules = modules
  }

  async find(streamPartId: StreamPartId, signal?: AbortSignal): Promise<readonly WantedNeighbour[]> {
    this.#modules.assertRunning()
    signal?.throwIfAborted()
    const requestId = (this.#lastId = (this.#lastId + 1) >>> 0)
    const question: Question = { streamPartId, ...unanswered, answer: undefined, lost: false }
    this.#questions.set(requestId, question)
    const leave = this.#modules.visit(streamPartId)
    const cancel = this.#modules.clock.schedule(this.#timeoutMs, () => {
      question.lost = true
      this.check()
    })
    try {
      await this.#waiters.wait(() => this.#ask(requestId, question), signal)
      return question.answer ?? []
    } finally {
      cancel()
      leave()
      this.#questions.delete(requestId)
    }
  }

  answered(trackerId: NodeId, { requestId, nodes }: StorageNodes): boolean {
    const question = this.#questions.get(requestId)
    if (question?.trackerId !== trackerId) return false
    question.answer = nodes
    this.check()
    return true
  }

  /** A tracker's connection opened or closed. */
  trackerChanged(trackerId: NodeId): void {
    for (const question of this.#questions.values()) {
      if (question.trackerId === trackerId) Object.assign(question, unanswered)
    }
    this.check()
  }

  /** A tracker said that another leads the stream part: that one is asked, when it is connected. */
  redirected(trackerId: NodeId, streamPartId: StreamPartId): void {
    const waits = this.#modules.trackerOf(streamPartId) === trackerId
    for (const question of this.#questions.values()) {
      if (question.trackerId === trackerId && question.streamPartId === streamPartId)
        Object.assign(question, { trackerId: undefined, waits })
    }
    this.check()
  }

  /** Another tracker can be asked about the stream part. */
  newTracker(streamPartId: StreamPartId): void {
    for (const question of this.#questions.values())
      if (question.streamPartId === streamPartId) question.waits = false
    this.check()
  }

  offer(streamPartId: StreamPartId, storing: boolean): void {
    if (storing) {
      this.#offered.add(streamPartId)
      return
    }
    this.#told.delete(streamPartId)
    if (!this.#offered.delete(streamPartId)) return
    const trackerId = this.#modules.trackerOf(streamPartId)
    if (trackerId !== undefined) this.#modules.send(trackerId, { type: 'storing', streamPartId, storing })
  }

  /** The tracker of a stream part is new: it knows nothing. */
  newSession(streamPartId: StreamPartId): void {
    this.#told.delete(streamPartId)
    this.newTracker(streamPartId)
  }

  /** After a status, as only a member can store. */
  statusSent(trackerId: NodeId, streamPartId: StreamPartId): void {
    if (!this.#offered.has(streamPartId) || this.#told.has(streamPartId)) return
    const isTold = this.#modules.send(trackerId, { type: 'storing', streamPartId, storing: true })
    if (isTold) this.#told.add(streamPartId)
  }

  check(): void {
    this.#waiters.check()
  }

  /** True when answered. */
  #ask(requestId: number, question: Question): boolean {
    this.#modules.assertRunning()
    if (question.answer !== undefined) return true
    if (question.lost) throw networkError('TRACKER_LOST', `nobody told who stores ${question.streamPartId}`)
    const { streamPartId } = question
    const trackerId = this.#modules.trackerOf(streamPartId)
    if (question.trackerId !== undefined || question.waits || trackerId === undefined) return false
    if (this.#modules.send(trackerId, { type: 'findStorage', requestId, streamPartId })) {
      question.trackerId = trackerId
    }
    return false
  }
}
