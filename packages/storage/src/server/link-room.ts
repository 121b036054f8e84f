import type { NetworkNode } from '@runnel/network'
import type { Clock, NodeId } from '@runnel/protocol'
import { delay, nextTurn } from '../waiting.ts'

/** What is sent beside live messages waits for room on the link: they must not queue up behind it. */
export interface LinkRoom {
  /** Resolves when little waits to be sent to the peer, in a later turn of the event loop. Throws what the signal says. */
  wait(peerId: NodeId, signal: AbortSignal): Promise<void>
}

export function createLinkRoom(
  { lowMarkBytes, pollMs }: { readonly lowMarkBytes: number; readonly pollMs: number },
  { network, clock }: { network: Pick<NetworkNode, 'queuedBytes' | 'drained'>; clock: Clock },
): LinkRoom {
  return {
    wait: async (peerId, signal) => {
      await nextTurn(clock)
      signal.throwIfAborted()
      while (network.queuedBytes(peerId) > lowMarkBytes) {
        await network.drained(peerId, signal)
        // The link has room for others before it has for this.
        if (network.queuedBytes(peerId) > lowMarkBytes) await delay(clock, pollMs, signal)
      }
    },
  }
}
