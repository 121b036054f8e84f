import { randomInt } from 'node:crypto'
import { nodeError } from '../errors.ts'
import { parseAims, type Aim } from './core/aims.ts'
import { runBoundMs, type RunTimes } from './core/budget.ts'
import type { Flow, LinkKind, LoadPlan, UserKind } from './core/plan.ts'
import { drive } from './load/drive.ts'
import type { Generator } from './load/generator.ts'
import type { SecondFigures } from './load/seconds.ts'
import type { Target } from './network/target.ts'
import { reportOf, type RunReport } from './report/run-report.ts'
import type { UserPlace } from './users/user.ts'

/** A run as it was asked for. */
export interface BenchRequest {
  readonly title: string
  readonly kind: UserKind
  readonly links: LinkKind
  readonly clients: number
  readonly publishersPerPart: number
  readonly subscribes: boolean
  readonly flows: readonly Flow[]
  readonly connectPerS: number
  readonly degree: number
  readonly times: RunTimes
  readonly aims: readonly Aim[]
  readonly listenHost: string
}

export interface BenchRun {
  readonly request: BenchRequest
  readonly target: Target
  /** Fresh ones: each is for one run. */
  readonly generators: readonly Generator[]
  readonly signal: AbortSignal
  onPhase(text: string): void
  onSecond(second: SecondFigures): void
}

/** Runs one load to its end, and says what it brought. Throws what `drive` throws. */
export async function runBench(run: BenchRun): Promise<RunReport> {
  const { request, target } = run
  const startedAt = new Date().toISOString()
  const plan = planOf(request, target)
  const place: UserPlace = {
    ...{ network: target.source, user: target.user, host: request.listenHost },
    gateway: gatewayFor(request.kind, target),
  }
  const driven = await drive({ ...run, plan, place, times: request.times })
  const { title, times, aims } = request
  return reportOf({ title, startedAt, plan, times, target, aims }, driven)
}

/** The most that a run takes, without the start of a network. */
export function boundOf(request: BenchRequest, parts: number): number {
  const places = Array.from({ length: parts }, () => ({ streamId: '', partition: 0 }))
  return runBoundMs({ ...request, runId: 0, parts: places }, request.times)
}

function planOf(request: BenchRequest, { parts }: Target): LoadPlan {
  const { kind, links, clients, publishersPerPart, subscribes, flows, connectPerS, degree } = request
  const runId = randomInt(2 ** 32)
  return { runId, kind, links, parts, clients, publishersPerPart, subscribes, flows, connectPerS, degree }
}

/** Throws BENCH_GATEWAY_MISSING where users of this kind need one that is not there. */
function gatewayFor(kind: UserKind, { gateway }: Target): UserPlace['gateway'] {
  if (kind !== 'http' && kind !== 'mqtt') return undefined
  if (gateway === undefined) throw nodeError('BENCH_GATEWAY_MISSING', `users of kind ${kind}`)
  return { url: kind === 'http' ? gateway.httpUrl : gateway.mqttUrl, key: gateway.key }
}

/** Aims as they are given on the command line; none where there are none. Throws USAGE. */
export function aimsOf(text: string | undefined): readonly Aim[] {
  return text === undefined ? [] : parseAims(text)
}
