import { randomInt } from 'node:crypto'
import { parseDurationMs } from '../../cli/duration.ts'
import { nodeError } from '../../errors.ts'
import type { BenchArguments, SendArguments } from '../../commands/bench-options.ts'
import { parseAims } from '../core/aims.ts'
import type { Flow } from '../core/plan.ts'
import { minStampedBytes } from '../core/stamp.ts'
import type { BenchRequest } from './run-bench.ts'

/** What a subcommand makes of the options. */
export interface BenchShape {
  readonly title: string
  readonly subscribes: boolean
  readonly publishes: boolean
  /** Default: one flow as `--rate` and `--size` say; none where nobody sends. */
  readonly flows?: readonly Flow[]
  /** Users of an overlay; default: as `--streams` spreads them. */
  readonly room?: number
  /** Stored messages that each user reads. */
  readonly history?: number
  /** The same for all that take part in one run; default: a new one. */
  readonly runId?: number
}

/** How long what was sent may be on its way. */
const drainMs = 5_000

/** A run as options ask for it. Throws USAGE. */
export function requestOf(args: BenchArguments & Partial<SendArguments>, shape: BenchShape): BenchRequest {
  const { clients, connrate, degree, size = 100, rate = 1 } = args
  const { title, subscribes, publishes, room, history = 0, runId = randomInt(2 ** 32) } = shape
  checkNumbers(args)
  const parts = room === undefined ? args.streams : Math.ceil(clients / room)
  if (parts > clients) throw nodeError('USAGE', `--streams ${parts}: more than there are users`)
  // Benches that do not send have no such options.
  const durationOf = (text: string | undefined, option: string) =>
    text === undefined ? 0 : parseDurationMs(text, option)
  return {
    ...{ title, runId, kind: args.users, links: args.links, floods: args.floods },
    ...{ clients, parts, subscribes, history, degree },
    connectPerS: connrate,
    publishersPerPart: publishes ? (args.publishers ?? clients) : 0,
    flows: shape.flows ?? [{ name: 'messages', ratePerS: rate, sizeBytes: size, urgent: false }],
    times: {
      settleMs: parseDurationMs(args.settle, 'settle'),
      warmupMs: durationOf(args.warmup, 'warmup'),
      durationMs: durationOf(args.duration, 'duration'),
      drainMs,
    },
    aims: args.aim === undefined ? [] : parseAims(args.aim),
    listenHost: args.listen,
  }
}

function checkNumbers(args: BenchArguments & Partial<SendArguments>): void {
  const whole = [
    ['clients', args.clients, 1, 100_000],
    ['streams', args.streams, 1, 10_000],
    ['degree', args.degree, 1, 64],
    ['nodes', args.nodes ?? 0, 0, 256],
    ['processes', args.processes, 1, 256],
    ['size', args.size ?? minStampedBytes, minStampedBytes, 1_048_576],
    ['publishers', args.publishers ?? 1, 1, 100_000],
  ] as const
  for (const [option, value, min, max] of whole)
    if (!Number.isInteger(value) || value < min || value > max)
      throw nodeError('USAGE', `--${option} takes a whole number from ${min} to ${max}`)
  for (const [option, value] of [['rate', args.rate ?? 1] as const, ['connrate', args.connrate] as const])
    if (!(value > 0 && value <= 100_000)) throw nodeError('USAGE', `--${option} takes a number above 0`)
}
