import type { Decoding } from '../content/decode.ts'
import type { UndecodableMessage } from '../content/undecodable-message.ts'
import { clientError } from '../errors.ts'
import { checkOptions, type OptionNames } from '../options.ts'
import { firstPlace, toPlace, type HistoryPlace } from '../resend/selection.ts'
import type { MessageGap } from '../subscribe/gap.ts'
import type { Message } from '../subscribe/message.ts'
import type { Spread } from './core/share.ts'
import { readerLimits } from './limits.ts'

/** Where a reader begins that has no cursor yet: with the first stored message, with what is published from now on, or at a time. */
export type ReaderStart = 'first' | 'new' | { readonly from: HistoryPlace }

/** What a durable reader is called, how it delivers, and who is told of what it cannot deliver. */
export interface ReaderOptions<T = unknown> extends Decoding<T> {
  /** Names the cursor among those of this user in this stream. 1 to 128 bytes. */
  readonly name: string
  /** Share the messages with other processes of this user that read with the same name. Default false: each process is given all. */
  readonly group?: boolean | undefined
  /** What one member of a group is given together: the messages of one key or else of one chain ('chain', default), or each by itself ('message'). The same in all members. */
  readonly spread?: Spread | undefined
  /** Only where there is no cursor yet. Default 'first'. */
  readonly start?: ReaderStart | undefined
  /** A message that is not acknowledged within this time is delivered again. Default 30,000. */
  readonly ackWaitMs?: number | undefined
  /** Messages that are out at once, without an acknowledgement. 1 keeps the order of each chain also when a message is delivered again. Default 256. */
  readonly maxInFlight?: number | undefined
  /** A message that was delivered so often without an acknowledgement is given up. Default: never. */
  readonly maxDeliveries?: number | undefined
  /** Acknowledge each message when the next one is asked for: what a `for await` loop left with an error or `break` is delivered again. Default false. */
  readonly autoAck?: boolean | undefined
  /** How much later than its timestamp a message may be stored and still be found. Default 600,000, as old as nodes take live messages. */
  readonly maxLateMs?: number | undefined
  /** Called for messages that were delivered `maxDeliveries` times, and will not be again. */
  readonly onGivenUp?: ((message: Message<T>) => void) | undefined
  /** Called for messages that cannot be opened or decoded: they count as done. There is a status 'undecodable' too. */
  readonly onUndecodable?: ((message: UndecodableMessage) => void) | undefined
  /** Called for messages that others name and nobody has; they are delivered if they come within `maxLateMs`. There is a status 'gap' too. */
  readonly onGap?: ((gap: MessageGap) => void) | undefined
  /** Ends it as `close` does. */
  readonly signal?: AbortSignal | undefined
}

const readerOptions: OptionNames<ReaderOptions> = {
  ...{ name: true, group: true, spread: true, start: true, ackWaitMs: true, maxInFlight: true },
  ...{ maxDeliveries: true, autoAck: true, maxLateMs: true, onGivenUp: true },
  ...{ onUndecodable: true, onGap: true, signal: true, raw: true, asBytes: true, schema: true },
}

/** The options that have a default, with it. */
export type CheckedReader = Required<
  Pick<ReaderOptions, 'name' | 'group' | 'spread' | 'start' | 'ackWaitMs' | 'maxInFlight' | 'autoAck'> &
    Pick<ReaderOptions, 'maxDeliveries' | 'maxLateMs'>
>

/** Throws INVALID_ARGUMENT. */
export function checkedReader(options: ReaderOptions): {
  readonly [K in keyof CheckedReader]: NonNullable<CheckedReader[K]>
} {
  checkOptions('reader', options, readerOptions)
  const { group = false, spread = 'chain', start = 'first', autoAck = false } = options
  if (spread !== 'chain' && spread !== 'message')
    throw clientError('INVALID_ARGUMENT', "spread is 'chain' or 'message'")
  return {
    ...{ name: checkedName(options.name), group, spread, start, autoAck },
    ackWaitMs: whole('ackWaitMs', options.ackWaitMs ?? 30_000, 1, 24 * 3_600_000),
    maxInFlight: whole('maxInFlight', options.maxInFlight ?? 256, 1, readerLimits.maxInFlight),
    maxDeliveries:
      options.maxDeliveries === undefined || options.maxDeliveries === Infinity
        ? Infinity
        : whole('maxDeliveries', options.maxDeliveries, 1, Number.MAX_SAFE_INTEGER),
    maxLateMs: whole('maxLateMs', options.maxLateMs ?? 600_000, 1_000, 7 * 24 * 3_600_000),
  }
}

/** Throws INVALID_ARGUMENT. */
export function checkedName(name: unknown): string {
  const { maxReaderNameBytes } = readerLimits
  const bytes = typeof name === 'string' ? new TextEncoder().encode(name).length : 0
  if (typeof name === 'string' && bytes > 0 && bytes <= maxReaderNameBytes) return name
  throw clientError('INVALID_ARGUMENT', `name is a text of 1 to ${maxReaderNameBytes} bytes`)
}

/** From which time on messages are read. Throws INVALID_ARGUMENT and INVALID_RESEND. */
export function startMs(start: ReaderStart, nowMs: number): number {
  if (start === 'first') return 0
  if (start === 'new') return nowMs
  if (typeof start !== 'object' || start === null)
    throw clientError('INVALID_ARGUMENT', "start is 'first', 'new' or { from }")
  const { timestamp } = toPlace(start.from, 'from', firstPlace)
  if (timestamp <= nowMs) return timestamp
  throw clientError('INVALID_ARGUMENT', 'start.from is in the future')
}

function whole(name: string, value: number, min: number, max: number): number {
  if (Number.isSafeInteger(value) && value >= min && value <= max) return value
  throw clientError('INVALID_ARGUMENT', `${name} is a whole number from ${min} to ${max}`)
}
