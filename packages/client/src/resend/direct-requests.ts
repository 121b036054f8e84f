import type { NetworkNode } from '@runnel/network'
import type {
  DirectPacket,
  NodeId,
  StorageAnswer,
  StorageRequest,
  StreamPartId,
  WantedNeighbour,
} from '@runnel/protocol'
import { onAbort } from '../deadline.ts'
import { asError, clientError } from '../errors.ts'

/** Hears the answers to one request. */
export interface AnswerListener {
  onAnswer(answer: StorageAnswer): void
  /** The link is gone; nothing more comes. */
  onLinkClosed(): void
}

/** One request of a node, on an open link. */
export interface DirectRequest {
  readonly requestId: number
  /** Resolves when the link has taken the packet; false when it is gone, or stays full. */
  send(packet: StorageRequest): Promise<boolean>
  /** Listens no longer, and lets go of the link. Idempotent. */
  close(): void
}

/** Requests to other nodes on links of their own: tells answers apart, and keeps links while there are requests. */
export class DirectRequests {
  readonly #node: NetworkNode
  readonly #listeners = new Map<NodeId, Map<number, AnswerListener>>()
  readonly #closing = new AbortController()
  #nextId = 1

  constructor(modules: { node: NetworkNode }) {
    const { node } = modules
    this.#node = node
    node.on('direct', (peerId, packet) => this.#onPacket(peerId, packet))
    node.on('linkClosed', (peerId) => this.#onLinkClosed(peerId))
  }

  /**
   * Connects, if need be; with the help of the stream part's tracker where one is given. Rejects with what connecting rejects with.
   */
  async open(
    peer: WantedNeighbour,
    streamPartId: StreamPartId | undefined,
    listener: AnswerListener,
    signal: AbortSignal,
  ): Promise<DirectRequest> {
    const { nodeId } = peer
    const link = await this.#node.connect(peer, { streamPartId, signal: this.#untilClosed(signal) })
    const requestId = this.#nextId
    this.#nextId = requestId === 0xffff_ffff ? 1 : requestId + 1
    const listeners = this.#listeners.get(nodeId) ?? new Map<number, AnswerListener>()
    this.#listeners.set(nodeId, listeners.set(requestId, listener))
    let isOpen = true
    return {
      requestId,
      send: async (packet) => {
        if (this.#node.sendDirect(nodeId, packet)) return true
        await this.#node.drained(nodeId, this.#untilClosed(signal)).catch(() => {})
        return isOpen && this.#node.sendDirect(nodeId, packet)
      },
      close: () => {
        if (!isOpen) return
        isOpen = false
        listeners.delete(requestId)
        if (listeners.size === 0) this.#listeners.delete(nodeId)
        link.release()
      },
    }
  }

  /** Sends one request, and gives the first answer. Rejects with what connecting rejects with, STORAGE_SILENT, or what the signal says. */
  async askOnce(
    peer: WantedNeighbour,
    streamPartId: StreamPartId | undefined,
    packetOf: (requestId: number) => StorageRequest,
    signal: AbortSignal,
  ): Promise<StorageAnswer> {
    const { promise, resolve, reject } = Promise.withResolvers<StorageAnswer>()
    // It may be settled before it is waited for.
    promise.catch(() => {})
    const lost = () => reject(clientError('STORAGE_SILENT', `${peer.nodeId}: the link was lost`))
    const link = await this.open(peer, streamPartId, { onAnswer: resolve, onLinkClosed: lost }, signal)
    const aborted = () => reject(asError(signal.reason))
    const forget = onAbort(signal, aborted)
    try {
      if (signal.aborted) aborted()
      if (!(await link.send(packetOf(link.requestId)))) lost()
      return await promise
    } finally {
      forget()
      link.close()
    }
  }

  /** Cancels connections being opened. */
  close(): void {
    this.#closing.abort()
  }

  #untilClosed(signal: AbortSignal): AbortSignal {
    return AbortSignal.any([signal, this.#closing.signal])
  }

  /** Answers to requests that were given up still arrive and are ignored. Requests are for storage nodes. */
  #onPacket(peerId: NodeId, packet: DirectPacket): void {
    switch (packet.type) {
      case 'resendStart':
      case 'resendData':
      case 'resendEnd':
      case 'stored':
      case 'cards':
        this.#listeners.get(peerId)?.get(packet.requestId)?.onAnswer(packet)
        return
      case 'resend':
      case 'resendMore':
      case 'resendCancel':
      case 'awaitStored':
      case 'keepCard':
      case 'askCards':
      case 'askTable':
    }
  }

  #onLinkClosed(peerId: NodeId): void {
    const listeners = this.#listeners.get(peerId)
    if (listeners === undefined) return
    for (const listener of [...listeners.values()]) listener.onLinkClosed()
  }
}
