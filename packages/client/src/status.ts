import type { RpcStatus } from '@runnel/contracts'
import type { HostNews } from '@runnel/network'
import type { NodeId, RunnelError, StreamId, StreamPartId } from '@runnel/protocol'
import type { UndecodableMessage } from './content/undecodable-message.ts'
import type { EncryptionNews } from './encryption/encryption-news.ts'
import type { DelegationNews } from './identity/acting-user.ts'
import type { MessagesWithheld } from './light/host-messages.ts'
import type { PhaseName } from './phases.ts'
import type { ReaderNews } from './reader/reader-news.ts'
import type { RegistryChange } from './registry/ports.ts'
import type { MessageEquivocation } from './subscribe/equivocation.ts'
import type { MessageGap } from './subscribe/gap.ts'
import { BoundedQueue } from './queue/bounded-queue.ts'

/** What a client reports about itself. */
export type ClientStatus =
  /** The chain with the registries stopped or began to answer. While it does not answer, known data stays in use. */
  | {
      readonly type: 'chain'
      readonly state: 'reachable' | 'unreachable'
      readonly source: string
      readonly error?: Error
    }
  /** The client left one of several chain endpoints for others, or the endpoint works again; `endpoint` is its URL without secrets. */
  | ({ readonly type: 'endpoint' } & RpcStatus)
  /** The client reached a phase on its way to the first message, `afterMs` milliseconds after its start; `client.phases` has all phases. */
  | { readonly type: 'phase'; readonly phase: PhaseName; readonly afterMs: number }
  /** The registry changed, and the change applies from now on. Only registries on a chain change. */
  | { readonly type: 'registry'; readonly change: RegistryChange }
  /** The registry lists no usable tracker, and `kept` trackers known before stay in use; or it lists some again. */
  | { readonly type: 'trackers'; readonly state: 'missing' | 'listed'; readonly kept: number }
  /**
   * A private network listed this client's user or removed it, or the user revoked the delegation. While the client is out, its node has no
   * links; `error` says why.
   */
  | { readonly type: 'admission'; readonly isListed: boolean; readonly error?: RunnelError }
  /**
   * The delegation under which this client acts nears its end, has expired, or was renewed. `leftMs` is the time left. Once it has expired,
   * `publish`, `subscribe` and `resend` throw DELEGATION_EXPIRED.
   */
  | ({ readonly type: 'delegation' } & DelegationNews)
  /**
   * Another process with this node's key took its place: this node is out of the network and does not come back. `publish`, `subscribe` and
   * `resend` throw the error, NODE_REPLACED.
   */
  | { readonly type: 'replaced'; readonly error: RunnelError }
  /** The link to a tracker opened or closed. Existing overlays continue without trackers. */
  | {
      readonly type: 'tracker'
      readonly trackerId: NodeId
      readonly state: 'connected' | 'disconnected'
      readonly error?: Error
    }
  /** In a light client: a host was linked, was lost, could not be reached, refuses a stream part, or brings messages late or not at all. */
  | ({ readonly type: 'host' } & HostNews)
  /** In a light client: a host did not bring messages that others brought. */
  | ({ readonly type: 'withheld' } & MessagesWithheld)
  /** The set of neighbours in a joined stream part changed. */
  | {
      readonly type: 'neighbours'
      readonly streamPartId: StreamPartId
      readonly neighbours: readonly NodeId[]
    }
  /** No other node was found in the stream part before the first message was published; only nodes that join soon will get it. */
  | { readonly type: 'publishing-alone'; readonly streamPartId: StreamPartId; readonly waitedMs: number }
  /** A subscription's consumer is too slow, and its oldest messages are being dropped. Reported again only after it has caught up. */
  | { readonly type: 'slow-consumer'; readonly streamId: StreamId; readonly dropped: number }
  /**
   * A stream under the prefix of a subscription was joined, now or because it was created or permitted later, and again when it gets more
   * partitions; or was `left`, because it was deleted or the user may no longer read it; or `failed`, and is tried again. `error` says why.
   */
  | {
      readonly type: 'prefix'
      readonly prefix: string
      readonly streamId: StreamId
      readonly state: 'joined' | 'left' | 'failed'
      readonly error?: Error
    }
  /** The number of streams left out of a subscription to a prefix changed: too many begin with the prefix (TOO_MANY_STREAMS), or no longer. */
  | {
      readonly type: 'prefix-full'
      readonly prefix: string
      readonly leftOut: number
      readonly error?: RunnelError
    }
  /** News of a durable reader: see `ReaderNews`. */
  | ({ readonly type: 'reader'; readonly streamId: StreamId; readonly name: string } & ReaderNews)
  /** News of the encryption of a stream: see `EncryptionNews`. */
  | ({ readonly type: 'encryption'; readonly streamId: StreamId } & EncryptionNews)
  /** A message's content could not be opened or decoded; the message was left out. */
  | ({ readonly type: 'undecodable' } & UndecodableMessage)
  /** Messages of a chain did not come and are given up, though a very late one may still come: all after `after`, up to and including `upTo`. */
  | ({ readonly type: 'gap' } & MessageGap)
  /** A publisher was shown to have signed two messages for one place; reported once per place, and a few times per chain. */
  | ({ readonly type: 'equivocation' } & MessageEquivocation)
  /** The client gave up a storage node in one request; other storage nodes, if there are any, continue. */
  | {
      readonly type: 'storage-failed'
      readonly streamPartId: StreamPartId
      readonly storageNodeId: NodeId
      readonly error: Error
    }
  /** Stored messages were left out because their publisher may not publish. */
  | {
      readonly type: 'history-denied'
      readonly streamPartId: StreamPartId
      readonly publisherId: NodeId
      readonly messages: number
    }
  /**
   * The history that a subscription should begin with could not be read completely, or live messages that did not fit while it was read could not
   * be read from storage; other live messages are delivered.
   */
  | { readonly type: 'history-failed'; readonly streamId: StreamId; readonly error: Error }
  /** A subscription ended, because the user lost the permission to subscribe, or the stream was deleted: `error` says which. */
  | { readonly type: 'subscription-ended'; readonly streamId: StreamId; readonly error: RunnelError }
  /** A subscription's callback threw or rejected; the next message is still delivered. */
  | { readonly type: 'callback-failed'; readonly streamId: StreamId; readonly error: unknown }
  /**
   * An error occurred in this build or its platform. It ended only some work: that of a stream part, which is left and joined again, of a
   * subscription, of a connection, which is closed, or other work.
   */
  | {
      readonly type: 'fault'
      readonly streamPartId?: StreamPartId
      readonly peerId?: NodeId
      readonly error: Error
    }
  /**
   * The node dropped or refused something; `counter` is the metric that grew. `error` is TIMESTAMP_REFUSED where the cause may be this
   * machine's clock.
   */
  | { readonly type: 'dropped'; readonly counter: string; readonly detail: string; readonly error?: Error }
  /** This consumer of the statuses was too slow: `count` statuses were left out here. */
  | { readonly type: 'statuses-missed'; readonly count: number }

/** Statuses kept for a consumer that does not take them. */
export const maxQueuedStatuses = 1000

interface Listener {
  readonly queue: BoundedQueue<ClientStatus>
  missed: number
}

/** Gives every consumer all statuses from when it began to listen. */
export class StatusHub {
  readonly #listeners = new Set<Listener>()
  #closed = false

  emit(status: ClientStatus): void {
    for (const listener of this.#listeners) listener.missed += listener.queue.push(status, 0)
  }

  /** Listens from now on, until `return()` or the end of the client. */
  listen(): AsyncIterableIterator<ClientStatus, undefined> {
    const queue = new BoundedQueue<ClientStatus>({ maxItems: maxQueuedStatuses, maxBytes: Infinity })
    const listener: Listener = { queue, missed: 0 }
    if (this.#closed) queue.close()
    else this.#listeners.add(listener)
    return {
      [Symbol.asyncIterator]() {
        return this
      },
      next: () => {
        const count = listener.missed
        if (count === 0) return queue.next()
        listener.missed = 0
        return Promise.resolve({ done: false, value: { type: 'statuses-missed', count } })
      },
      return: () => {
        this.#listeners.delete(listener)
        queue.close()
        return Promise.resolve({ done: true, value: undefined })
      },
    }
  }

  /** Ends every consumer after its queued items. */
  close(): void {
    this.#closed = true
    for (const { queue } of this.#listeners) queue.close()
    this.#listeners.clear()
  }
}
