import { clientError, type HistorySelection } from '@runnel/client'
import { limits, toNodeId } from '@runnel/protocol'
import { parsePoint, pointHelp } from '@runnel/storage/http'
import { z } from 'zod'

const whole = (what: string) =>
  z
    .string()
    .regex(/^\d{1,10}$/, 'must be a whole number')
    .transform(Number)
    .optional()
    .describe(what)
const partition = whole('Partition. Default: all when reading, one that the gateway chooses when publishing.')
const key = z
  .string()
  .optional()
  .describe('Message key. The newest message with a key is the value of that key.')
const point = (what: string) => z.string().optional().describe(`${what}: ${pointHelp}.`)

/** What may stand behind `?` at each route. */
export const queries = {
  publish: z.strictObject({
    partition,
    key,
    partitionKey: z
      .string()
      .optional()
      .describe('Messages with the same partition key go to the same partition.'),
    wait: z
      .enum(['stored'])
      .optional()
      .describe('Answer only when a storage node has stored the message durably.'),
    timeoutMs: whole('How long to wait for storage; default 30000.'),
  }),
  remove: z.strictObject({ partition, key: z.string().describe('Key whose value is removed.') }),
  events: z.strictObject({
    partition,
    last: whole('Begin with this many stored messages.'),
    from: point('Begin with what was stored since a time'),
    'last-event-id': z
      .string()
      .optional()
      .describe('Same as the Last-Event-ID header, for clients that cannot set headers.'),
    key: z.string().optional().describe('The API key, for EventSource, which cannot send headers.'),
  }),
  history: z.strictObject({
    partition,
    last: whole(`This many of the newest messages, up to ${limits.maxResendCount}.`),
    from: point('All since a time'),
    to: point('Up to a time'),
    publisher: z.string().optional().describe('Only messages of this publisher.'),
  }),
  last: z.strictObject({ partition, key }),
  table: z.strictObject({ partition }),
}

/** Checks what stands behind `?`. Throws INVALID_ARGUMENT, which names the parameter. */
export function parseQuery<T>(schema: z.ZodType<T>, query: unknown): T {
  const result = schema.safeParse(query)
  if (result.success) return result.data
  const issues = result.error.issues.map(({ path, message }) => [...path.map(String), message].join(': '))
  throw clientError('INVALID_ARGUMENT', issues.join('; '))
}

/** The partitions to read. */
export function partitionsOf(chosen: number | undefined): readonly number[] | undefined {
  return chosen === undefined ? undefined : [chosen]
}

/** Which stored messages are meant; undefined for none. Throws INVALID_ARGUMENT or INVALID_RESEND. */
export function selectionOf(
  query: {
    readonly last?: number | undefined
    readonly from?: string | undefined
    readonly to?: string | undefined
  },
  nowMs: number,
): HistorySelection | undefined {
  const { last, from, to } = query
  if (last !== undefined && (from ?? to) !== undefined)
    throw clientError('INVALID_ARGUMENT', 'last goes with neither from nor to')
  if (last !== undefined) return { last }
  if (from === undefined && to === undefined) return undefined
  return {
    from: from === undefined ? 0 : placeOf('from', from, 'first', nowMs),
    to: to === undefined ? undefined : placeOf('to', to, 'last', nowMs),
  }
}

export function publisherOf(text: string | undefined): string | undefined {
  return text === undefined ? undefined : toNodeId(text)
}

function placeOf(name: string, text: string, end: 'first' | 'last', nowMs: number) {
  const place = parsePoint(text, end, nowMs)
  if (place === undefined) throw clientError('INVALID_ARGUMENT', `${name} takes ${pointHelp}`)
  return place
}
