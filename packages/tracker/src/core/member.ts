import {
  noEntries,
  RareSet,
  type Membership,
  type NodeId,
  type StreamPartId,
  type TokenBucket,
} from '@runnel/protocol'
import { transitionOf, type MemberInput, type MemberState, type Transition } from './member-states.ts'

/** A node in a stream part, as the tracker sees it. */
export class Member {
  readonly streamPartId: StreamPartId
  readonly nodeId: NodeId
  /** The user it acts for, by its newest status. */
  membership: Membership | undefined
  /** The highest counter the node can know: of our newest instruction, or what it reported. */
  counter: number
  /** The neighbours it was last told, or had already when its overlay was taken over. */
  told: ReadonlySet<NodeId> = new Set()
  /** It has to be told its neighbours whether or not they differ from `told`. */
  mustTell = true
  /** The counter `told` went out with. */
  toldCounter = 0
  /** It was disconnected since: its next status shows what it knows. */
  unsure = false
  /** How often the newest instruction was sent again. */
  resends = 0
  /** Round-trip times by its newest status. */
  rttsMs: ReadonlyMap<NodeId, number> = noEntries()
  /** By what it is linked to its neighbours, as it says: numbers of `transportCode`. */
  transports: ReadonlyMap<NodeId, number> = noEntries()
  /** Neighbours that report it as lost while its connection to the tracker is lost too. */
  readonly lostBy = new RareSet<NodeId>()
  /** Made when first needed. */
  edgeFailures: TokenBucket | undefined
  /** Edges exchanged for nearer ones. Made when first needed. */
  exchanges: TokenBucket | undefined

  #state: MemberState = 'absent'

  constructor(streamPartId: StreamPartId, nodeId: NodeId, counter: number) {
    this.streamPartId = streamPartId
    this.nodeId = nodeId
    this.counter = counter
  }

  get state(): MemberState {
    return this.#state
  }

  /** Whether its newest status has a node among its neighbours, as far as it is remembered. */
  reports(id: NodeId): boolean {
    return this.transports.has(id) || this.rttsMs.has(id)
  }

  /** Applies an input and returns the transition. Throws when it is not in the table. */
  step(input: MemberInput): Transition {
    const transition = transitionOf(this.#state, input)
    this.#state = transition.next
    return transition
  }
}
