import { notice } from '../cli/output.ts'
import { readNetwork } from '../cli/network-source.ts'
import { parseDurationMs } from '../cli/duration.ts'
import { listenForStop } from '../cli/stop-signal.ts'
import { resolveUser } from '../keys/resolve-user.ts'
import { nodeError } from '../errors.ts'
import type { BenchArguments, SendArguments } from '../commands/bench-options.ts'
import type { GlobalArguments } from '../cli/common-options.ts'
import type { Flow } from './core/plan.ts'
import { minStampedBytes } from './core/stamp.ts'
import { LocalGenerator } from './load/local-generator.ts'
import { openExistingNetwork } from './network/existing-network.ts'
import { startOwnNetwork } from './network/own-network.ts'
import type { Target } from './network/target.ts'
import { reportText } from './report/text.ts'
import type { RunReport } from './report/run-report.ts'
import { aimsOf, boundOf, runBench, type BenchRequest } from './run-bench.ts'

type Arguments = BenchArguments & Partial<SendArguments> & GlobalArguments

/** What a subcommand makes of the options. */
export interface CommandShape {
  readonly title: string
  readonly subscribes: boolean
  readonly publishes: boolean
  readonly flows?: readonly Flow[]
}

/** How long a network of its own may take to start. */
const startBoundMs = 120_000

/** Runs a bench from its options. Throws USAGE, BENCH_AIM_MISSED where an aim was not met, and what a run throws. */
export async function runCommand(args: Arguments, shape: CommandShape): Promise<void> {
  const request = requestOf(args, shape)
  const stop = listenForStop()
  const isOwn = args.network === undefined
  const boundMs = boundOf(request, args.streams) + (isOwn ? startBoundMs : 0)
  notice(`ends within ${Math.ceil(boundMs / 1000)} s`)
  const signal = AbortSignal.any([stop.signal, AbortSignal.timeout(boundMs)])
  const target = await openTarget(args, signal)
  try {
    const report = await runBench({
      ...{ request, target, signal },
      generators: [new LocalGenerator({ name: 'this process' })],
      onPhase: notice,
      onSecond: () => {},
    })
    await tell(report, args)
  } finally {
    await target.stop()
    stop.release()
  }
}

function tell(report: RunReport, { json }: Arguments): Promise<void> {
  process.stdout.write(json ? `${JSON.stringify(report)}\n` : `${reportText(report)}\n`)
  const missed = report.aims.filter(({ met }) => !met).map(({ aim }) => aim)
  if (missed.length > 0) throw nodeError('BENCH_AIM_MISSED', missed.join(', '))
  return Promise.resolve()
}

function openTarget(args: Arguments, signal: AbortSignal): Promise<Target> {
  const { network, streams: parts, encrypt, nodes, degree, users } = args
  if (network !== undefined) {
    const user = resolveUser({ as: args.as, key: args.key, env: process.env })
    return openExistingNetwork({
      ...{ source: readNetwork(network), user, stream: args.stream, parts },
      ...{ storage: false, gateway: undefined },
    })
  }
  return startOwnNetwork({
    ...{ nodes, parts, degree, encrypted: encrypt, storage: false, gateways: users === 'http' || users === 'mqtt' },
    ...{ signal, onProgress: notice },
  })
}

/** Throws USAGE. */
function requestOf(args: Arguments, { title, subscribes, publishes, flows }: CommandShape): BenchRequest {
  const { clients, streams, connrate, degree, rate = 1, size = 100, duration = '10s', warmup = '2s' } = args
  for (const [option, value, max] of [
    ...[['clients', clients, 100_000] as const, ['streams', streams, 10_000] as const],
    ...[['degree', degree, 64] as const, ['nodes', args.nodes + 1, 257] as const, ['size', size, 1_048_576] as const],
  ])
    if (!Number.isInteger(value) || value < 1 || value > max)
      throw nodeError('USAGE', `--${option} takes a whole number up to ${max}`)
  if (streams > clients) throw nodeError('USAGE', `--streams ${streams}: more than there are users`)
  if (!(rate > 0) || !(connrate > 0)) throw nodeError('USAGE', '--rate and --connrate take a number above 0')
  if (size < minStampedBytes) throw nodeError('USAGE', `--size takes at least ${minStampedBytes}`)
  return {
    ...{ title, kind: args.users, links: args.links, clients, subscribes, connectPerS: connrate, degree },
    publishersPerPart: publishes ? (args.publishers ?? clients) : 0,
    flows: flows ?? [{ name: 'messages', ratePerS: rate, sizeBytes: size, urgent: false }],
    times: {
      settleMs: parseDurationMs(args.settle, 'settle'),
      warmupMs: parseDurationMs(warmup, 'warmup'),
      durationMs: parseDurationMs(duration, 'duration'),
      drainMs: 5_000,
    },
    aims: aimsOf(args.aim),
    listenHost: args.listen,
  }
}
