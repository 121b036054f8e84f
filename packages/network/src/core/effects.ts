import type {
  Contact,
  ControlPacket,
  Count,
  Delegation,
  IceServer,
  Latest,
  MessageBatch,
  NodeId,
  NodeToTracker,
  OfferTaken,
  Signal,
  PermissionScope,
  StreamPartId,
  WantedNeighbour,
  UrgentMessage,
} from '@runnel/protocol'
import type { Delivery, Equivocation, Gap, HostAddress, HostNews, WithheldMessages } from '../ports.ts'
import type { CounterName } from './counters.ts'
import type { CopyWay } from './overlay-effects.ts'
import type { Way } from './tracker-link/way.ts'

/** The owner of work, and so how far a fault in it reaches. */
export interface Owner {
  readonly streamPartId?: StreamPartId
  readonly peerId?: NodeId
  readonly way?: Way
}

/** What a node core wants done, in order. */
export type NodeEffect =
  /** `alone`: the peer was not told to connect too. `again`: what was signalled before may have been lost, here or there. */
  | {
      readonly type: 'connect'
      readonly peerId: NodeId
      readonly contact: Contact
      readonly alone: boolean
      readonly again: boolean
    }
  | {
      readonly type: 'disconnect'
      readonly peerId: NodeId
      readonly code: 'MISBEHAVED' | 'UNUSED'
      readonly text: string
    }
  /** `mayLose`: it is of no use late, or is asked for again, and need not arrive. */
  | {
      readonly type: 'sendControl'
      readonly peerId: NodeId
      readonly packet: ControlPacket
      readonly mayLose: boolean
    }
  /** A whole data packet, as it came. */
  | ({ readonly type: 'sendData'; readonly peerId: NodeId; readonly packet: Uint8Array } & CopyWay)
  | { readonly type: 'sendUrgent'; readonly peerId: NodeId; readonly message: UrgentMessage }
  /** A batch was accepted; its new messages are delivered next. Also one that replaces a batch accepted before. */
  | { readonly type: 'accepted'; readonly streamPartId: StreamPartId; readonly batch: MessageBatch }
  /** A batch came whose messages were all seen already. */
  | { readonly type: 'duplicate'; readonly streamPartId: StreamPartId; readonly batch: MessageBatch }
  | { readonly type: 'deliver'; readonly delivery: Delivery }
  /** A publisher was proven to have signed two messages for one place. */
  | { readonly type: 'equivocation'; readonly equivocation: Equivocation }
  /** No neighbour has it: ask the archive, and send `archiveEnded` once it has sent what it has. */
  | { readonly type: 'fillFromArchive'; readonly gap: Gap }
  /** A gap was given up: delivery continues after it. */
  | { readonly type: 'gapLost'; readonly gap: Gap }
  /** A neighbour told the newest message of a key; nothing of it is checked. */
  | { readonly type: 'latest'; readonly peerId: NodeId; readonly packet: Latest }
  /** The attached neighbours changed, or there is nobody to be one. */
  | {
      readonly type: 'neighbours'
      readonly streamPartId: StreamPartId
      readonly neighbours: readonly NodeId[]
    }
  /** `from` acts for the user. */
  | {
      readonly type: 'resolveReader'
      readonly scope: PermissionScope
      readonly userId: NodeId
      readonly delegation: Delegation | undefined
      readonly from: NodeId
    }
  /** `from` brought batches that it signed. */
  | {
      readonly type: 'resolvePublisher'
      readonly scope: PermissionScope
      readonly publisherId: NodeId
      readonly delegation: Delegation | undefined
      readonly from: NodeId | undefined
    }
  /** Guests want to be served there, or not any more. */
  | { readonly type: 'guestPart'; readonly streamPartId: StreamPartId; readonly isWanted: boolean }
  /** Open a link to whoever is there; `hostFound` or `hostFailed` follows. */
  | { readonly type: 'findHost'; readonly host: HostAddress }
  | { readonly type: 'host'; readonly news: HostNews }
  | { readonly type: 'withheld'; readonly withheld: WithheldMessages }
  | { readonly type: 'dialTracker'; readonly way: Way }
  /** The connection, or the attempt to open one, is no longer needed. */
  | { readonly type: 'hangUpTracker'; readonly way: Way }
  | { readonly type: 'sendToTracker'; readonly way: Way; readonly packet: NodeToTracker }
  /** Tells a tracker how this node is reached. */
  | { readonly type: 'introduce'; readonly way: Way }
  | { readonly type: 'takeSignal'; readonly way: Way; readonly signal: Signal }
  | { readonly type: 'offerTaken'; readonly way: Way; readonly packet: OfferTaken }
  | { readonly type: 'setIceServers'; readonly way: Way; readonly servers: readonly IceServer[] }
  /** A tracker says how many nodes are in a stream part. */
  | { readonly type: 'count'; readonly trackerId: NodeId; readonly packet: Count }
  /** The answer to `findStorage`. */
  | {
      readonly type: 'storageFound'
      readonly requestId: number
      readonly nodes: readonly WantedNeighbour[]
    }
  /** There is something to report to trackers once everything that happens in this turn was handled: send `turnEnded`. */
  | { readonly type: 'awaitTurnEnd' }
  /** A counter of dropped or refused items grew. */
  | { readonly type: 'dropped'; readonly counter: CounterName; readonly detail: string }
  /** Work threw. A stream part rests; any other owner is disconnected. */
  | { readonly type: 'fault'; readonly owner: Owner; readonly error: unknown }
