/** A node's progress into the overlay of a stream part. */
export type MemberState =
  /** Not in the stream part. */
  | 'absent'
  /** Has reported an overlay that is not taken over yet, or waits for one; has temporary edges at most. */
  | 'claimed'
  /** In the overlay by a replica; has not reported here. */
  | 'expected'
  /** In the overlay; has not answered an instruction yet. */
  | 'joined'
  /** Has answered before, but not the newest instruction with all neighbours attached. */
  | 'told'
  /** Has attached all neighbours of its newest instruction. */
  | 'settled'

/** What can happen to a member. */
export type MemberInput =
  /** A status from which an overlay is to be taken over, or from a node that has to wait for one. */
  | 'claim'
  /** Any other status. */
  | 'report'
  /** The status answered the newest instruction: all neighbours are attached. */
  | 'attached'
  /** The status answered the newest instruction: some neighbours are not attached yet. */
  | 'partlyAttached'
  /** An instruction is sent. */
  | 'instructed'
  /** The overlay is taken over. */
  | 'adopted'
  /** A replica has the node, and the overlay is taken over. */
  | 'foreseen'

/** The reaction of a stream part to a status. */
export type MemberAction =
  /** Puts the node into the overlay. */
  | 'join'
  /** Keeps what the node reports until the overlay is taken over. */
  | 'gather'
  /** Takes the node out of the overlay it was put into too early, and gathers claims. */
  | 'withdraw'
  /** A node of the replica has reported. */
  | 'confirm'
  /** Compares the status with what the node was told. */
  | 'acknowledge'

export interface Transition {
  readonly next: MemberState
  /** Only for statuses. */
  readonly action?: MemberAction
}

/** Every possible transition; anything else is an error. */
export const memberTransitions: Readonly<
  Record<MemberState, Readonly<Partial<Record<MemberInput, Transition>>>>
> = {
  absent: {
    claim: { next: 'claimed', action: 'gather' },
    report: { next: 'joined', action: 'join' },
    foreseen: { next: 'expected' },
  },
  claimed: {
    claim: { next: 'claimed', action: 'gather' },
    report: { next: 'claimed', action: 'gather' },
    instructed: { next: 'claimed' },
    adopted: { next: 'joined' },
  },
  expected: {
    report: { next: 'joined', action: 'confirm' },
  },
  joined: {
    claim: { next: 'claimed', action: 'withdraw' },
    report: { next: 'joined', action: 'acknowledge' },
    attached: { next: 'settled' },
    partlyAttached: { next: 'told' },
    instructed: { next: 'joined' },
  },
  told: {
    report: { next: 'told', action: 'acknowledge' },
    attached: { next: 'settled' },
    partlyAttached: { next: 'told' },
    instructed: { next: 'told' },
  },
  settled: {
    report: { next: 'settled', action: 'acknowledge' },
    attached: { next: 'settled' },
    partlyAttached: { next: 'told' },
    instructed: { next: 'told' },
  },
}

/** Throws when the transition is not in the table: an error in this build, which ends the stream part's work. */
export function transitionOf(state: MemberState, input: MemberInput): Transition {
  const transition = memberTransitions[state][input]
  if (transition === undefined) throw new Error(`a member that is ${state} cannot be ${input}`)
  return transition
}
