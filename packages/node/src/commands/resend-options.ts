import type { HistoryFilter, HistorySelection } from '@runnel/client'
import { limits, toNodeId, type MessageRef } from '@runnel/protocol'
import { parsePoint, pointHelp } from '@runnel/storage/http'
import type { InferredOptionTypes, Options } from 'yargs'
import { memberOptions } from '../cli/common-options.ts'
import { nodeError } from '../errors.ts'

/** How messages are printed. */
export const formatOptions = {
  raw: {
    type: 'boolean',
    conflicts: 'meta',
    describe:
      'Write the bytes of each message unchanged, with nothing between them. Beware: a terminal interprets control characters in them',
  },
  meta: {
    type: 'boolean',
    describe: 'Also print ids, timestamp and publisher',
  },
} as const satisfies Record<string, Options>

/** Options of `resend last`, `resend from` and `resend range`. */
export const resendOptions = {
  ...memberOptions,
  ...formatOptions,
  publisher: { type: 'string', describe: 'Only messages of this publisher' },
  partition: { type: 'number', describe: 'Only this partition. Default: all' },
  recording: { type: 'boolean', describe: 'Print the urgent messages that stream record stored there' },
} as const satisfies Record<string, Options>

export type ResendArguments = InferredOptionTypes<typeof resendOptions>

export const resendEpilogue =
  'Prints stored messages from the storage nodes of the stream: verified, in order of time, each once. Exits with 69 if there is no storage node or none answers, and with 77 without permission to subscribe. Bytes are printed as {"base64": …}.'

/** Throws USAGE. */
export function parseCount(text: string, what: string): number {
  const count = Number(text)
  if (Number.isSafeInteger(count) && count >= 1 && count <= limits.maxResendCount) return count
  throw nodeError('USAGE', `${what} takes a whole number from 1 to ${limits.maxResendCount}, not "${text}"`)
}

/** Throws USAGE. */
export function parsePlace(text: string, end: 'first' | 'last', what: string): MessageRef {
  const place = parsePoint(text, end, Date.now())
  if (place === undefined) throw nodeError('USAGE', `${what} takes ${pointHelp}, not "${text}"`)
  return place
}

/** Throws INVALID_NODE_ID. */
export function filterOf({ publisher, partition }: ResendArguments): HistoryFilter {
  return {
    publisherId: publisher === undefined ? undefined : toNodeId(publisher),
    partitions: partition === undefined ? undefined : [partition],
  }
}

/** What `subscribe` begins with; undefined for nothing. Throws USAGE. */
export function historyOf(last: string | undefined, from: string | undefined): HistorySelection | undefined {
  if (last !== undefined) return { last: parseCount(last, '--last') }
  return from === undefined ? undefined : { from: parsePlace(from, 'first', '--from') }
}
