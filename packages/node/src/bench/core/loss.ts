import { membersOf, type LoadPlan } from './plan.ts'

/**
 * Copies of messages that nodes of users dropped, by why. A copy is sent on a link, so one message may be dropped several times, and come by
 * another way all the same.
 */
export interface DroppedCopies {
  /** The time of an urgent message was over, or not all of it had come by then. */
  readonly late: number
  /** There was no room, or its publisher had sent more than its share. */
  readonly refused: number
  /** It came while its publisher was looked up: an urgent message does not wait for that. */
  readonly unresolved: number
}

/** Deliveries that should have been, and were not; in a run that only publishes, messages in place of deliveries. */
export interface Losses {
  readonly lost: number
  /** Of messages that were not published. */
  readonly unsent: number
  /** At a reader before the first that came of its publisher. */
  readonly first: number
  /** Between two that came. */
  readonly between: number
  /** After the last that came, or all of a publisher, or of more than is followed. */
  readonly last: number
  /** Undefined where users cannot tell. */
  readonly dropped: DroppedCopies | undefined
}

/** What a generator knows of what was lost. */
export interface LossCounts {
  /** Messages that were not published, by stream part. */
  readonly unsent: readonly number[]
  /** Deliveries before the first that came, and between two that came. */
  readonly first: number
  readonly missing: number
  readonly dropped: DroppedCopies | undefined
}

/** Adds up what generators know of so many deliveries that were lost. */
export function lossesOf(plan: LoadPlan, lost: number, counts: readonly LossCounts[]): Losses {
  const sum = (of: (one: LossCounts) => number) => counts.reduce((all, one) => all + of(one), 0)
  const unsent = sum(({ unsent: byPart }) =>
    byPart.reduce((all, messages, part) => all + messages * readersOf(plan, part), 0),
  )
  const [first, between] = [sum((one) => one.first), sum(({ missing }) => missing)]
  const dropped = counts.flatMap((one) => (one.dropped === undefined ? [] : [one.dropped]))
  return {
    ...{ lost, unsent, first, between, last: Math.max(0, lost - first - between) },
    dropped: dropped.length < counts.length ? undefined : dropped.reduce(addDropped, noneDropped),
  }
}

/** Users that should have a message; where none of this run reads, it counts once. */
function readersOf(plan: LoadPlan, part: number): number {
  return plan.subscribes ? membersOf(plan, part) - 1 : 1
}

export const noneDropped: DroppedCopies = { late: 0, refused: 0, unresolved: 0 }

export function addDropped(a: DroppedCopies, b: DroppedCopies): DroppedCopies {
  return {
    late: a.late + b.late,
    refused: a.refused + b.refused,
    unresolved: a.unresolved + b.unresolved,
  }
}

/** For people: where in the run what was lost is missing, and why, as far as nodes say. Undefined where nothing was lost. */
export function lossText({ lost, unsent, first, between, last, dropped }: Losses): string | undefined {
  if (lost === 0) return undefined
  const places = `${first} before the first of their publisher, ${between} between others, ${last} after the last, or not followed`
  return `${lost} lost: ${unsent} not sent; ${places}. ${whyText(lost - unsent, dropped)}`
}

function whyText(lost: number, dropped: DroppedCopies | undefined): string {
  if (lost <= 0) return 'No other is known to be lost'
  if (dropped === undefined) return 'Users of this kind do not say what was dropped'
  const { late, refused, unresolved } = dropped
  if (late + refused + unresolved === 0) return `${lost} never came: no node of a user dropped a copy`
  return `Copies dropped at nodes of users: ${late} late, ${refused} refused, ${unresolved} while their publisher was looked up`
}
