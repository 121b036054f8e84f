import {
  RareMap,
  RareSet,
  type FindStorage,
  type NodeId,
  type StorageNodes,
  type Storing,
  type StreamPartId,
  type WantedNeighbour,
} from '@runnel/protocol'

export interface StorageQuestionsModules {
  /** The connected tracker of a stream part. */
  trackerOf(streamPartId: StreamPartId): NodeId | undefined
  /** Sends to that tracker. */
  send(packet: FindStorage | Storing): void
  found(requestId: number, nodes: readonly WantedNeighbour[]): void
}

interface Question {
  readonly streamPartId: StreamPartId
  /** The tracker asked; undefined until one is connected. */
  trackerId: NodeId | undefined
  /** The tracker asked knows no other one to ask: nobody else is asked until there is one. */
  waits: boolean
}

/** Which tracker is asked who stores a stream part, and which is told what this node stores. */
export class StorageQuestions {
  readonly #modules: StorageQuestionsModules
  readonly #questions = new RareMap<number, Question>()
  readonly #offered = new RareSet<StreamPartId>()
  /** The offers that the tracker has received on its present connection. */
  readonly #told = new RareSet<StreamPartId>()

  constructor(modules: StorageQuestionsModules) {
    this.#modules = modules
  }

  ask(requestId: number, streamPartId: StreamPartId): void {
    this.#questions.set(requestId, { streamPartId, trackerId: undefined, waits: false })
    this.#askAll()
  }

  /** The answer is no longer needed. Returns the stream part that it was about. */
  end(requestId: number): StreamPartId | undefined {
    const question = this.#questions.get(requestId)
    this.#questions.delete(requestId)
    return question?.streamPartId
  }

  /** False when this was not asked. */
  answered(trackerId: NodeId, { requestId, nodes }: StorageNodes): boolean {
    if (this.#questions.get(requestId)?.trackerId !== trackerId) return false
    this.#modules.found(requestId, nodes)
    return true
  }

  /** A connection to a tracker closed, with the answer that it owed: whichever tracker is connected is asked. */
  disconnected(trackerId: NodeId): void {
    for (const question of this.#questions.values())
      if (question.trackerId === trackerId) Object.assign(question, { trackerId: undefined, waits: false })
    this.#askAll()
  }

  /** A tracker redirected: the leader is asked, once it is connected. */
  redirected(trackerId: NodeId, streamPartId: StreamPartId): void {
    const waits = this.#modules.trackerOf(streamPartId) === trackerId
    for (const question of this.#questions.values()) {
      if (question.trackerId === trackerId && question.streamPartId === streamPartId)
        Object.assign(question, { trackerId: undefined, waits })
    }
    this.#askAll()
  }

  /** Another tracker, or a new connection to the same one, can be asked: it has received nothing yet. */
  newTracker(streamPartId: StreamPartId): void {
    this.#told.delete(streamPartId)
    for (const question of this.#questions.values())
      if (question.streamPartId === streamPartId) question.waits = false
    this.#askAll()
  }

  offer(streamPartId: StreamPartId, storing: boolean): void {
    if (storing) {
      this.#offered.add(streamPartId)
      return
    }
    this.#told.delete(streamPartId)
    if (!this.#offered.delete(streamPartId)) return
    if (this.#modules.trackerOf(streamPartId) !== undefined)
      this.#modules.send({ type: 'storing', streamPartId, storing })
  }

  /** After a status, because only a member can store. */
  statusSent(streamPartId: StreamPartId): void {
    if (!this.#offered.has(streamPartId) || this.#told.has(streamPartId)) return
    this.#told.add(streamPartId)
    this.#modules.send({ type: 'storing', streamPartId, storing: true })
  }

  #askAll(): void {
    for (const [requestId, question] of this.#questions) {
      const { streamPartId } = question
      if (question.trackerId !== undefined || question.waits) continue
      const trackerId = this.#modules.trackerOf(streamPartId)
      if (trackerId === undefined) continue
      question.trackerId = trackerId
      this.#modules.send({ type: 'findStorage', requestId, streamPartId })
    }
  }
}
