import type {
  FindStorage,
  NodeId,
  StorageNodes,
  Storing,
  StreamPartId,
  WantedNeighbour,
} from '@runnel/protocol'

export interface StorageQuestionsModules {
  /** The connected tracker of a stream part. */
  trackerOf(streamPartId: StreamPartId): NodeId | undefined
  /** To that tracker. */
  send(packet: FindStorage | Storing): void
  found(requestId: number, nodes: readonly WantedNeighbour[]): void
}

interface Question {
  readonly streamPartId: StreamPartId
  /** Who was asked; undefined until a tracker is connected. */
  trackerId: NodeId | undefined
  /** It was asked of a tracker that knows no other: until there is one, nobody is. */
  waits: boolean
}

/** Who is asked who stores a stream part, and who is told what this node stores. */
export class StorageQuestions {
  readonly #modules: StorageQuestionsModules
  readonly #questions = new Map<number, Question>()
  readonly #offered = new Set<StreamPartId>()
  /** Of those offered, what the tracker knows in its present session. */
  readonly #told = new Set<StreamPartId>()

  constructor(modules: StorageQuestionsModules) {
    this.#modules = modules
  }

  ask(requestId: number, streamPartId: StreamPartId): void {
    this.#questions.set(requestId, { streamPartId, trackerId: undefined, waits: false })
    this.#askAll()
  }

  /** Nobody waits for the answer any more. The stream part that it was about. */
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

  /** A connection to a tracker is gone, and the answer that it owed: whoever is connected is asked. */
  disconnected(trackerId: NodeId): void {
    for (const question of this.#questions.values())
      if (question.trackerId === trackerId) Object.assign(question, { trackerId: undefined, waits: false })
    this.#askAll()
  }

  /** A tracker said that another leads the stream part: that one is asked, when it is connected. */
  redirected(trackerId: NodeId, streamPartId: StreamPartId): void {
    const waits = this.#modules.trackerOf(streamPartId) === trackerId
    for (const question of this.#questions.values()) {
      if (question.trackerId === trackerId && question.streamPartId === streamPartId)
        Object.assign(question, { trackerId: undefined, waits })
    }
    this.#askAll()
  }

  /** Another tracker, or a new connection to the same one, can be asked: it knows nothing. */
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

  /** After a status, as only a member can store. */
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
