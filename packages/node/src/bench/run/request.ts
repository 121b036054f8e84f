import { randomInt } from 'node:crypto'
import { checkRange } from '../../cli/check-range.ts'
import { parseDurationMs } from '../../cli/duration.ts'
import { nodeError } from '../../errors.ts'
import type { BenchArguments, SendArguments } from '../../commands/bench-options.ts'
import { parseAims } from '../core/aims.ts'
import type { Flow } from '../core/plan.ts'
import { minStampedBytes } from '../core/stamp.ts'
import { storedTimeoutMs } from '../network/prefill.ts'
import { partsOf } from './parts.ts'
import type { BenchRequest } from './run-bench.ts'

/** What a subcommand makes of the options. */
export interface BenchShape {
  readonly title: string
  readonly subscribes: boolean
  readonly publishes: boolean
  /** Default: one flow as `--rate` and `--size` say; none where nobody sends. */
  readonly flows?: readonly Flow[]
  /** Users of an overlay; default: as `--streams` spreads them. */
  readonly room?: number | undefined
  /** Stored messages that each user reads. */
  readonly history?: number
  /** The same for all that take part in one run; default: a new one. */
  readonly runId?: number
}

/** The most users, or messages a second of a publisher. */
export const maxLoad = 100_000
/** Users of an overlay, of whom one alone would have nobody to talk to. */
const minRoom = 2
/** How long sent messages may be on their way. */
const drainMs = 5_000

/** A run as options ask for it. Throws USAGE. */
export function requestOf(args: BenchArguments & Partial<SendArguments>, shape: BenchShape): BenchRequest {
  const { clients, connrate, degree, size = 100, rate = 1 } = args
  const { title, subscribes, publishes, room, history = 0, runId = randomInt(2 ** 32) } = shape
  checkNumbers(args)
  checkRange('run', runId, 0, 2 ** 32 - 1)
  checkRange('room', room ?? minRoom, minRoom, maxLoad)
  const parts = partsOf({ clients, streams: args.streams, room })
  checkShares(args, parts)
  // Benches that do not send have no such options.
  const durationOf = (text: string | undefined, option: string, minMs = 1) =>
    text === undefined ? 0 : parseDurationMs(text, option, 1, minMs)
  return {
    ...{ title, runId, sender: randomInt(2 ** 16), kind: args.users, links: args.links, floods: args.floods },
    ...{ clients, parts, subscribes, history, degree },
    connectPerS: connrate,
    publishersPerPart: publishes ? (args.publishers ?? clients) : 0,
    flows: shape.flows ?? [{ name: 'messages', ratePerS: rate, sizeBytes: size, urgent: false }],
    times: {
      settleMs: parseDurationMs(args.settle, 'settle'),
      warmupMs: durationOf(args.warmup, 'warmup', 0),
      durationMs: durationOf(args.duration, 'duration'),
      drainMs,
      prepareMs: history > 0 ? parts * storedTimeoutMs : 0,
    },
    aims: args.aim === undefined ? [] : parseAims(args.aim),
    listenHost: args.listen,
  }
}

function checkNumbers(args: BenchArguments & Partial<SendArguments>): void {
  checkRange('clients', args.clients, 1, maxLoad)
  checkRange('streams', args.streams, 1, 10_000)
  checkRange('degree', args.degree, 1, 64)
  checkRange('nodes', args.nodes ?? 0, 0, 256)
  checkRange('processes', args.processes, 1, 256)
  checkRange('size', args.size ?? minStampedBytes, minStampedBytes, 1_048_576)
  checkRange('publishers', args.publishers ?? 1, 1, maxLoad)
  checkRange('prometheus', args.prometheus ?? 0, 0, 65_535)
  for (const [option, value] of [['rate', args.rate ?? 1] as const, ['connrate', args.connrate] as const])
    if (!(value > 0 && value <= maxLoad))
      throw nodeError('USAGE', `--${option} takes a number above 0, up to ${maxLoad}`)
}

/** What there are more of than users would have none, and say nothing. */
function checkShares(
  { clients, processes, worker, publishers = 1 }: BenchArguments & Partial<SendArguments>,
  parts: number,
): void {
  if (parts > clients) throw nodeError('USAGE', `--streams ${parts}: more than there are users`)
  if (processes > clients) throw nodeError('USAGE', `--processes ${processes}: more than there are users`)
  if (worker !== undefined && worker.length > clients)
    throw nodeError('USAGE', `--worker, ${worker.length} times: more than there are users`)
  if (publishers > Math.ceil(clients / parts))
    throw nodeError('USAGE', `--publishers ${publishers}: more than an overlay has users`)
}
