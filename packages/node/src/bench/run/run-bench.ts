import { untilAborted } from '@runnel/protocol'
import { nodeError } from '../../errors.ts'
import type { Aim } from '../core/aims.ts'
import { runBoundMs, type RunTimes } from '../core/budget.ts'
import { usesGateway, type LoadPlan, type UserKind } from '../core/plan.ts'
import { drive } from '../load/drive.ts'
import type { Generator } from '../load/generator.ts'
import type { SecondFigures } from '../load/seconds.ts'
import { prefill } from '../network/prefill.ts'
import type { Target } from '../network/target.ts'
import { reportOf, type RunReport } from '../report/run-report.ts'
import type { UserPlace } from '../users/user.ts'

/** A run as it was asked for. */
export interface BenchRequest extends Omit<LoadPlan, 'parts'> {
  readonly title: string
  /** Overlays that the users are spread over: the first of the network's. */
  readonly parts: number
  readonly times: RunTimes
  readonly aims: readonly Aim[]
  readonly listenHost: string
}

export interface BenchRun {
  readonly request: BenchRequest
  readonly target: Target
  readonly signal: AbortSignal
  /** Of the command, for the report. */
  readonly options: string
  /** Fresh generators: each is for one run, which stops them. */
  openGenerators(): Promise<readonly Generator[]>
  onPhase(text: string): void
  /** Users that did not close, for people. */
  onUnclosed(texts: readonly string[]): void
  onSecond(second: SecondFigures): void
}

/** What a run brought. */
export interface Ran {
  readonly report: RunReport
  /** Why it ended before its time, with a report of what was measured until then. */
  readonly cut: { readonly error: unknown } | undefined
}

/** Runs one load, and says what it brought. Throws BENCH_GATEWAY_MISSING, and what the target's `admit`, opening generators and `drive` throw. */
export async function runBench(run: BenchRun): Promise<Ran> {
  const { request, target } = run
  const startedAt = new Date().toISOString()
  const plan = planOf(request, target)
  const place: UserPlace = {
    ...{ network: target.source, user: target.user, host: request.listenHost },
    gateway: gatewayFor(request.kind, target),
  }
  await untilAborted(target.admit(plan), run.signal)
  const { history } = request
  const prepare = history === 0 ? undefined : historyFor(request, target)
  // Last, as only `drive` stops them.
  const generators = await run.openGenerators()
  const driven = await drive({ ...run, generators, plan, place, times: request.times, prepare })
  const { title, times, aims } = request
  const report = reportOf({ title, startedAt, options: run.options, plan, times, target, aims }, driven)
  return { report, cut: driven.cut }
}

/** The most that a run takes, without the start of a network. */
export function boundOf(request: Pick<BenchRequest, 'clients' | 'connectPerS' | 'times'>): number {
  return runBoundMs(request, request.times)
}

function planOf({ title, times, aims, listenHost, parts, ...plan }: BenchRequest, target: Target): LoadPlan {
  return { ...plan, parts: target.parts.slice(0, parts) }
}

function historyFor({ history: messages, flows }: BenchRequest, target: Target) {
  const sizeBytes = flows[0]?.sizeBytes ?? 0
  return {
    name: `storing ${messages} messages`,
    work: (plan: LoadPlan, signal: AbortSignal) => prefill(target, plan, { messages, sizeBytes, signal }),
  }
}

/** Throws BENCH_GATEWAY_MISSING where users of this kind need one that is not there. */
function gatewayFor(kind: UserKind, { gateway }: Target): UserPlace['gateway'] {
  if (!usesGateway(kind)) return undefined
  if (gateway === undefined) throw nodeError('BENCH_GATEWAY_MISSING', `users of kind ${kind}`)
  return { url: kind === 'http' ? gateway.httpUrl : gateway.mqttUrl, key: gateway.key }
}
