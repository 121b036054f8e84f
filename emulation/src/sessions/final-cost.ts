import type { SessionArm } from './session-plan.ts'

/** Of what a machine holds, so that its users are not held up by it (source 003, section 5.2). */
const usedShare = 0.7

export interface FinalOptions {
  readonly arm: SessionArm
  /** Sessions that a machine was found to hold. */
  readonly held: number
  readonly members: number
  /** About so many in all. */
  readonly users: number
}

export interface FinalPlan extends FinalOptions {
  readonly sessionsPerMachine: number
  readonly machines: number
  readonly sessions: number
}

/** How many machines so many users take. A machine has one session at least, as in source 003. */
export function finalPlan({ arm, held, members, users }: FinalOptions): FinalPlan {
  const sessionsPerMachine = Math.max(1, Math.floor(usedShare * held))
  const sessions = Math.ceil(users / members)
  const machines = Math.ceil(sessions / sessionsPerMachine)
  return { arm, held, members, users: sessions * members, sessionsPerMachine, sessions, machines }
}

/** All machines for the whole time, in US dollars. */
export function priceUsd(machines: number, minutes: number, usdPerHour: number): number {
  return Number(((machines * minutes * usdPerHour) / 60).toPrecision(3))
}
