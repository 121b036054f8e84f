import type { Decoding } from '../content/decode.ts'
import type { UndecodableMessage } from '../content/undecodable-message.ts'
import { clientError } from '../errors.ts'
import { checkOptions, type OptionNames } from '../options.ts'
import { firstPlace, toPlace, type HistoryPlace } from '../resend/selection.ts'
import type { MessageGap } from '../subscribe/gap.ts'
import type { Message } from '../subscribe/message.ts'
import type { Spread } from './core/share.ts'
import { readerLimits } from './limits.ts'

/** Where a reader without a cursor begins: with the first stored message, with messages published from now on, or at a time. */
export type ReaderStart = 'first' | 'new' | { readonly from: HistoryPlace }

/** The name of a durable reader, how it delivers, and which callbacks report what it cannot deliver. */
export interface ReaderOptions<T = unknown> extends Decoding<T> {
  /** The name of the cursor among this user's cursors in this stream. 1 to 128 bytes. */
  readonly name: string
  /** Share the messages with other processes of this user that read under the same name. Default false: each process gets all messages. */
  readonly group?: boolean | undefined
  /**
   * Which messages one member of a group gets together: messages of one key, or else of one chain ('chain', default); or each message by itself
   * ('message'). Must be the same in all members.
   */
  readonly spread?: Spread | undefined
  /** Where to begin if there is no cursor yet. Default 'first'. */
  readonly start?: ReaderStart | undefined
  /** A message that is not acknowledged within this many milliseconds is delivered again. Default 30,000. */
  readonly ackWaitMs?: number | undefined
  /**
   * How many messages may be delivered and unacknowledged at once. 1 keeps the order of each chain even when a message is delivered again. Default
   * 256.
   */
  readonly maxInFlight?: number | undefined
  /** A message delivered this often without an acknowledgement is given up. Default: never. */
  readonly maxDeliveries?: number | undefined
  /**
   * Acknowledge each message when the next one is requested: if a `for await` loop ends with an error or `break`, its message is delivered again.
   * Default false.
   */
  readonly autoAck?: boolean | undefined
  /**
   * How much later than its timestamp a message may be stored and still be found, in milliseconds. Default 600,000, the age up to which nodes take
   * live messages.
   */
  readonly maxLateMs?: number | undefined
  /** Called for messages that were delivered `maxDeliveries` times and are given up. */
  readonly onGivenUp?: ((message: Message<T>) => void) | undefined
  /**
   * Called for messages that cannot be opened or decoded; they count as done. There is a status 'undecodable' too. Not called while this process
   * has not the user's present reading key or the registry does not answer: such a message is tried again, with a status `reader` 'failed'.
   */
  readonly onUndecodable?: ((message: UndecodableMessage) => void) | undefined
  /**
   * Called for messages that other messages name and nobody has; they are delivered if they come within `maxLateMs`. There is a status 'gap' too.
   */
  readonly onGap?: ((gap: MessageGap) => void) | undefined
  /** Ends the reader as `close` does, once the loop is done with the message that it is at. */
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
