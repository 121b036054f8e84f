import type { NetworkNode } from '@runnel/network'
import type { DirectPacket, NodeId } from '@runnel/protocol'
import type { StorageLimits } from '../storage-limits.ts'
import type { LinkRoom } from './link-room.ts'
import { Slots } from './slots.ts'

export interface AnswersModules {
  readonly network: Pick<NetworkNode, 'hold' | 'sendDirect'>
  readonly room: LinkRoom
}

/** Sends last answers to requests as soon as the links take them: without one, an asker would wait until its time is up. */
export class Answers {
  readonly #modules: AnswersModules
  readonly #waiting: Slots

  constructor(
    {
      maxWaitingAnswers,
      maxWaitingAnswersPerPeer,
    }: Pick<StorageLimits, 'maxWaitingAnswers' | 'maxWaitingAnswersPerPeer'>,
    modules: AnswersModules,
  ) {
    this.#modules = modules
    this.#waiting = new Slots({ total: maxWaitingAnswers, perPeer: maxWaitingAnswersPerPeer })
  }

  /** For a request that counts among those of its kind until this resolves. Tries once where there is no time. */
  async send(peerId: NodeId, packet: DirectPacket, signal: AbortSignal): Promise<void> {
    const { network, room } = this.#modules
    while (!network.sendDirect(peerId, packet)) {
      if (signal.aborted) return
      await room.wait(peerId, signal).catch(() => {})
    }
  }

  /** For a request that counts nowhere, as a refused one: so many answers wait, and one more is tried once. */
  async sendUncounted(peerId: NodeId, packet: DirectPacket, signal: AbortSignal): Promise<void> {
    const { network } = this.#modules
    if (network.sendDirect(peerId, packet)) return
    const release = this.#waiting.take(peerId)
    if (release === undefined) return
    const letGo = network.hold(peerId)
    try {
      await this.send(peerId, packet, signal)
    } finally {
      letGo()
      release()
    }
  }
}
