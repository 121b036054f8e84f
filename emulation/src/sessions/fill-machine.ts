import { setTimeout as pause } from 'node:timers/promises'
import { isRunnelError } from '@runnel/protocol'
import { emulationError } from '../errors.ts'
import { within } from '../media/within.ts'
import type { Machine, OpenSession } from './machine.ts'
import { MachineLoad, type LoadFigures } from './machine-load.ts'
import { usualFirstWarmUpMs, framesPerS, joinBoundMs, type FillOptions } from './session-plan.ts'

/** A machine with so many sessions, for a while. */
export interface FillPoint extends LoadFigures {
  readonly sessions: number
  readonly users: number
  /** The longest that a user took of the sessions that are new since the point before. */
  readonly joinMs: number
  /** Received, of what was sent to all. */
  readonly completenessPercent: number
  /** Sent, of what the users should have sent. */
  readonly sentPercent: number
  readonly kbitPerSOfUser: number
}

export interface FillResult {
  readonly points: readonly FillPoint[]
  /** What failed with one more session, or why there was no other. */
  readonly endedBy: 'join' | 'completeness' | 'most sessions' | 'time'
  /** Of a join that failed. */
  readonly detail: string
}

/** Adds sessions to a machine until a limit is passed, or until there are enough; all users send from when their session is complete. */
export async function fillMachine(
  machine: Machine,
  options: FillOptions,
  signal: AbortSignal,
  onPoint: (point: FillPoint) => void,
): Promise<FillResult> {
  const { members, maxSessions, limits, budgetMs, holdMs, windowMs, measures } = options
  const [points, open]: [FillPoint[], OpenSession[]] = [[], []]
  const load = new MachineLoad()
  const untilMs = performance.now() + budgetMs
  let joinMs = 0
  while (open.length < maxSessions) {
    if (performance.now() > untilMs) return { points, endedBy: 'time', detail: '' }
    const joined = await join(machine, open.length, options, signal)
    if (typeof joined === 'string') return { points, endedBy: 'join', detail: joined }
    open.push(joined)
    joinMs = Math.max(joinMs, Math.round(joined.joinMs))
    const isLast = open.length === maxSessions
    if (measures === 'each' || isLast) {
      await pause(warmUpMsOf(points.length === 0, options), undefined, { signal })
      const ms = isLast && holdMs > 0 ? holdMs : windowMs
      const point = { ...(await measure(open, load, { members, ms }, signal)), joinMs }
      onPoint(point)
      points.push(point)
      joinMs = 0
    }
    if (joined.joinMs > limits.joinMs) return { points, endedBy: 'join', detail: 'a user took too long' }
    if ((points.at(-1)?.completenessPercent ?? 100) < limits.completenessPercent)
      return { points, endedBy: 'completeness', detail: '' }
  }
  return { points, endedBy: 'most sessions', detail: '' }
}

function warmUpMsOf(
  isFirst: boolean,
  { warmUpMs, firstWarmUpMs = usualFirstWarmUpMs }: Pick<FillOptions, 'warmUpMs' | 'firstWarmUpMs'>,
): number {
  return isFirst ? firstWarmUpMs : warmUpMs
}

/** A session, or why it could not join. */
async function join(
  machine: Machine,
  number: number,
  options: FillOptions,
  signal: AbortSignal,
): Promise<OpenSession | string> {
  try {
    return await within(joinBoundMs(options), signal, (either) =>
      machine.open(number, options.members, either),
    )
  } catch (error) {
    signal.throwIfAborted()
    if (isRunnelError(error, 'TOO_SLOW')) return 'a user took too long'
    if (number === 0) throw error
    return error instanceof Error ? error.message : String(error)
  }
}

async function measure(
  open: readonly OpenSession[],
  load: MachineLoad,
  { members, ms }: { readonly members: number; readonly ms: number },
  signal: AbortSignal,
): Promise<Omit<FillPoint, 'joinMs'>> {
  const sampleAll = () => Promise.all(open.map((session) => session.sample()))
  await sampleAll()
  load.restart()
  const startMs = performance.now()
  await pause(ms, undefined, { signal })
  const samples = await sampleAll()
  const seconds = (performance.now() - startMs) / 1_000
  const sum = (of: (sample: (typeof samples)[number]) => number) =>
    samples.reduce((all, sample) => all + of(sample), 0)
  const sent = sum((sample) => sample.sent)
  if (sent === 0) throw emulationError('PROCESS_FAILED', 'no user sent anything')
  const users = open.length * members
  return {
    ...{ sessions: open.length, users },
    completenessPercent: percent(
      sum(({ received }) => received),
      sent * (members - 1),
    ),
    sentPercent: percent(sent, users * framesPerS * seconds),
    kbitPerSOfUser: Math.round((8 * sum(({ sentBytes }) => sentBytes)) / 1_000 / seconds / users),
    ...load.figures(),
  }
}

const percent = (part: number, whole: number): number => Math.round((10_000 * part) / whole) / 100
