import { clientError } from '@runnel/client'
import { z } from 'zod'
import { nodeError } from '../../errors.ts'
import type { GivenContent } from '../../written-content.ts'
import { contentOf } from '../publishing/content.ts'
import type { Frame } from './frames.ts'

const id = z.union([z.string().max(256), z.number()])
/** Messages granted at once. */
const maxCredit = 1_000_000
const partition = z.int().min(0).optional()

const operationSchema = z.discriminatedUnion('op', [
  z.strictObject({
    op: z.literal('publish'),
    id,
    stream: z.string(),
    /** Default: json; in the binary subprotocol binary. */
    contentType: z.enum(['json', 'text', 'binary']).optional(),
    /** In the JSON subprotocol: the content, where it is binary in base64. */
    content: z.unknown().optional(),
    partition,
    partitionKey: z.string().optional(),
    key: z.string().optional(),
    headers: z.record(z.string(), z.string()).optional(),
    wait: z.literal('stored').optional(),
    timeoutMs: z
      .int()
      .min(1)
      .max(2 ** 31 - 1)
      .optional(),
  }),
  z.strictObject({
    op: z.literal('subscribe'),
    id,
    stream: z.string(),
    partition,
    cursor: z.string().optional(),
    last: z.int().min(1).optional(),
    from: z.string().optional(),
    /** Messages that may be sent until more credit is granted; without it all. */
    credit: z.int().min(0).max(maxCredit).optional(),
  }),
  z.strictObject({
    op: z.literal('credit'),
    id,
    subscription: z.int(),
    /** So many more. */
    messages: z.int().min(1).max(maxCredit),
  }),
  z.strictObject({
    op: z.literal('batch'),
    id,
    stream: z.string(),
    /** In base64; in the binary subprotocol behind the header. */
    batch: z.base64().optional(),
    /** What it is signed under, in base64. */
    delegation: z.base64().optional(),
  }),
  z.strictObject({ op: z.literal('unsubscribe'), id, subscription: z.int() }),
])

/** What a client asks for. */
export type Operation = z.output<typeof operationSchema>
export type OperationId = z.output<typeof id>

/** Throws INVALID_ARGUMENT, which names the field. */
export function parseOperation({ header }: Frame): Operation {
  const result = operationSchema.safeParse(header)
  if (result.success) return result.data
  const issues = result.error.issues.map(({ path, message }) => [...path.map(String), message].join(': '))
  throw clientError('INVALID_ARGUMENT', issues.join('; '))
}

/** The id of what may be no operation, for the answer. */
export function idOf({ header }: Frame): OperationId | undefined {
  if (typeof header !== 'object' || header === null || !('id' in header)) return undefined
  return id.safeParse(header.id).data
}

/** The content to publish, and its bytes. Throws INPUT_INVALID. */
export function contentOfOperation(
  { contentType, content }: Extract<Operation, { op: 'publish' }>,
  bytes: Uint8Array | undefined,
): GivenContent & { readonly bytes: number } {
  if (bytes !== undefined) return { ...contentOf(bytes, contentType ?? 'binary'), bytes: bytes.length }
  if (contentType === undefined || contentType === 'json') {
    if (content === undefined) throw nodeError('INPUT_INVALID', 'there is no content')
    return { content, bytes: Buffer.byteLength(JSON.stringify(content)) }
  }
  if (typeof content !== 'string')
    throw nodeError('INPUT_INVALID', `content that is ${contentType} is a string`)
  if (contentType === 'text') return { content, bytes: Buffer.byteLength(content) }
  const decoded = Buffer.from(content, 'base64')
  return { content: new Uint8Array(decoded), bytes: decoded.length }
}
