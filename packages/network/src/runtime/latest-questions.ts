import {
  encodePacket,
  latestCapability,
  RareMap,
  type Clock,
  type Latest,
  type MessageBatch,
  type NodeId,
  type StreamPartId,
} from '@runnel/protocol'
import type { Links } from '@runnel/transport'

export interface LatestQuestionsModules {
  readonly links: Pick<Links, 'peers' | 'send'>
  readonly clock: Clock
  /** An answer to what was not asked. */
  unexpected(peerId: NodeId): void
}

interface Question {
  readonly peerId: NodeId
  settle(batch: MessageBatch | undefined): void
}

/** What neighbours are asked of the newest messages of keys. */
export class LatestQuestions {
  readonly #retryMs: number
  readonly #modules: LatestQuestionsModules
  readonly #open = new RareMap<number, Question>()
  #lastId = 0

  constructor(limits: { readonly latestRetryMs: number }, modules: LatestQuestionsModules) {
    this.#retryMs = limits.latestRetryMs
    this.#modules = modules
  }

  /** Asks again and again, as long as the neighbour does not answer. Undefined also where it cannot be asked. Rejects with the signal's reason. */
  async ask(
    peerId: NodeId,
    streamPartId: StreamPartId,
    tag: Uint8Array | undefined,
    signal: AbortSignal,
  ): Promise<MessageBatch | undefined> {
    const { links, clock } = this.#modules
    signal.throwIfAborted()
    if (links.peers.get(peerId)?.capabilities.has(latestCapability) !== true) return undefined
    const requestId = (this.#lastId = (this.#lastId + 1) >>> 0)
    const packet = encodePacket({ type: 'askLatest', requestId, streamPartId, tag })
    const { promise, resolve, reject } = Promise.withResolvers<MessageBatch | undefined>()
    let cancel = () => {}
    const send = (): void => {
      links.send(peerId, packet)
      cancel = clock.schedule(this.#retryMs, send)
    }
    const onAbort = () => reject(signal.reason)
    signal.addEventListener('abort', onAbort)
    this.#open.set(requestId, { peerId, settle: resolve })
    try {
      send()
      return await promise
    } finally {
      cancel()
      this.#open.delete(requestId)
      signal.removeEventListener('abort', onAbort)
    }
  }

  answered(peerId: NodeId, { requestId, batch }: Latest): void {
    const question = this.#open.get(requestId)
    if (question?.peerId === peerId) question.settle(batch)
    else this.#modules.unexpected(peerId)
  }

  linkClosed(peerId: NodeId): void {
    for (const question of this.#open.values()) if (question.peerId === peerId) question.settle(undefined)
  }
}
