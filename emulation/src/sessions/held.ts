import type { FillPoint, FillResult } from './fill-machine.ts'
import type { SessionArm, SessionLimits } from './session-plan.ts'

/** Users that send less than this of what they should no longer load what they are to load. */
const fullySentPercent = 90

/** What a machine held: the last point within the limits. */
export interface HeldRow {
  readonly arm: SessionArm
  readonly members: number
  readonly sessions: number
  readonly users: number
  /** With those of a session that passed a limit, or was not full. */
  readonly joined: number
  readonly endedBy: string
  /** The most sessions of users that sent what they should, too. */
  readonly fullySending: number
  readonly cpuPercent: number | null
  readonly memoryMiB: number | null
  readonly sentPercent: number | null
  readonly kbitPerSOfUser: number | null
  readonly elapsedS: number
}

/** The largest number of sessions before the first that passed a limit. */
export function heldOf(
  { arm, members, limits }: Pick<HeldRow, 'arm' | 'members'> & { readonly limits: SessionLimits },
  { points, endedBy, detail, joined, elapsedS }: FillResult & Pick<HeldRow, 'joined' | 'elapsedS'>,
): HeldRow {
  const met = points.filter((point) => isWithin(point, limits))
  const full = met.filter(({ sentPercent }) => sentPercent >= fullySentPercent)
  const last = met.at(-1)
  return {
    ...{ arm, members, sessions: last?.sessions ?? 0, users: last?.users ?? 0, joined },
    ...{
      endedBy: detail === '' ? endedBy : `${endedBy}: ${detail}`,
      fullySending: full.at(-1)?.sessions ?? 0,
    },
    ...{ cpuPercent: last?.cpuPercent ?? null, memoryMiB: last?.memoryMiB ?? null },
    ...{ sentPercent: last?.sentPercent ?? null, kbitPerSOfUser: last?.kbitPerSOfUser ?? null, elapsedS },
  }
}

export function isWithin({ joinMs, completenessPercent }: FillPoint, limits: SessionLimits): boolean {
  return joinMs <= limits.joinMs && completenessPercent >= limits.completenessPercent
}
