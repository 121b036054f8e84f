import { isRunnelError } from '@runnel/protocol'
import type { GlobalArguments } from '../../cli/common-options.ts'
import { notice } from '../../cli/output.ts'
import { listenForStop } from '../../cli/stop-signal.ts'
import type { BenchArguments, SendArguments } from '../../commands/bench-options.ts'
import { nodeError } from '../../errors.ts'
import { requireBound } from '../core/budget.ts'
import { timeLimit } from '../load/time-limit.ts'
import type { Target } from '../network/target.ts'
import { optionsText } from '../report/machine.ts'
import type { RunReport } from '../report/run-report.ts'
import { openGenerators, type Generators } from './generators.ts'
import { openTarget, requireTarget, startBoundMs } from './open-target.ts'
import { Outputs } from './outputs.ts'
import { requestOf, type BenchShape } from './request.ts'
import { boundOf, runBench, type BenchRequest, type Ran } from './run-bench.ts'

export type RunArguments = BenchArguments & Partial<SendArguments> & GlobalArguments

/** How long a process that users hold after everything is told may go on before it is ended. */
const unclosedGraceMs = 5_000

/** What a bench runs on, from the first run to the last. */
export interface Bench {
  readonly target: Target
  readonly outputs: Outputs
  /** Runs one load. Throws what `runBench` throws. */
  run(request: BenchRequest): Promise<Ran>
}

export interface BenchNeeds {
  readonly parts: number
  readonly storage: boolean
  readonly boundMs: number
}

/** Runs one load from its options. Throws USAGE, BENCH_AIM_MISSED, and what a run throws. */
export async function runCommand(args: RunArguments, shape: BenchShape): Promise<void> {
  const request = requestOf(args, shape)
  const needs = { parts: request.parts, storage: request.history > 0, boundMs: boundOf(request) }
  await withBench(args, needs, async ({ run, outputs }) => {
    const { report, cut } = await run(request)
    outputs.report(report)
    if (cut !== undefined) throw cut.error
    requireAims(report)
  })
}

/** Throws BENCH_AIM_MISSED. */
function requireAims({ aims }: RunReport): void {
  const missed = aims.filter(({ met }) => !met).map(({ aim }) => aim)
  if (missed.length > 0) throw nodeError('BENCH_AIM_MISSED', missed.join(', '))
}

/** Opens what a bench runs on, says how long it takes at most, and closes everything again. */
export async function withBench(
  args: RunArguments,
  { parts, storage, boundMs: runsMs }: BenchNeeds,
  work: (bench: Bench) => Promise<void>,
): Promise<void> {
  requireTarget(args)
  const boundMs = runsMs + (args.network === undefined ? startBoundMs : 0)
  requireBound(boundMs)
  const outputs = await Outputs.open(args)
  const stop = listenForStop()
  const limit = timeLimit(boundMs)
  const signal = AbortSignal.any([stop.signal, limit.signal])
  let [generators, target]: [Generators?, Target?] = []
  let phase = 'generators start'
  let isAllClosed = true
  const onPhase = (text: string) => outputs.phase((phase = text))
  try {
    const opened = (generators = await openGenerators(args, args.clients, signal))
    notice(`ends within ${Math.ceil(boundMs / 1000)} s`)
    const needs = { parts, storage, signal, onProgress: onPhase }
    const loaded = (target = await openTarget(args, needs))
    await work({
      ...{ target: loaded, outputs },
      run: (request) =>
        runBench({
          ...{ request, target: loaded, signal, options: optionsText(args) },
          openGenerators: () => opened.open(request.clients),
          onPhase,
          onUnclosed: (texts) => {
            isAllClosed = false
            notice(`did not close: ${texts.join(', ')}`)
          },
          onSecond: (second) => outputs.second(second),
        }),
    })
  } catch (error) {
    if (limit.signal.aborted && !isRunnelError(error, 'BENCH_TIMEOUT'))
      throw nodeError('BENCH_TIMEOUT', `while ${phase}`, { cause: error })
    throw stop.signal.aborted ? nodeError('INTERRUPTED', undefined, { cause: error }) : error
  } finally {
    await outputs.stop()
    await target?.stop()
    await generators?.stop()
    stop.release()
    limit.end()
    // Only if something still holds the process; by then its output and its exit code are there.
    if (!isAllClosed) setTimeout(() => process.exit(), unclosedGraceMs).unref()
  }
}
