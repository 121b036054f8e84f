import type { Membership, NodeId, StreamPartId } from '@runnel/protocol'
import type { TokenBucket } from './timing/token-bucket.ts'

/** A node in a stream part, as the tracker sees it. */
export class Member {
  readonly streamPartId: StreamPartId
  readonly nodeId: NodeId
  /** In whose name it takes part, by its newest status. */
  membership: Membership | undefined
  /** The highest counter the node can know: of our newest instruction, or what it reported. */
  counter: number
  /** The neighbours it was last told, or had already when its overlay was taken over. */
  told: ReadonlySet<NodeId> = new Set()
  /** It has to be told its neighbours whether or not they differ from `told`. */
  mustTell = true
  /** The counter `told` went out with. */
  toldCounter = 0
  /** It was disconnected since: its next status says what it knows. */
  unsure = false
  /** One of its statuses was about the newest instruction then. */
  hasAnswered = false
  /** Known from a replica only: it has not reported here. */
  expected = false
  /** By its newest status, all neighbours it was told are attached. */
  settled = false
  /** How often the newest instruction was sent again. */
  resends = 0
  /** Round-trip times by its newest status. */
  rttsMs: ReadonlyMap<NodeId, number> = new Map()
  /** Neighbours that say they lost it while its connection to the tracker is gone too. */
  readonly lostBy = new Set<NodeId>()
  /** Made when it is first needed. */
  edgeFailures: TokenBucket | undefined
  /** Edges exchanged for nearer ones. Made when it is first needed. */
  exchanges: TokenBucket | undefined

  constructor(streamPartId: StreamPartId, nodeId: NodeId, counter: number) {
    this.streamPartId = streamPartId
    this.nodeId = nodeId
    this.counter = counter
  }
}
