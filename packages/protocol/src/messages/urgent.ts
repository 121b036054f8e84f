import { maxU32 } from '../codec/fields.ts'
import { Reader, withinLimit } from '../codec/reader.ts'
import { Writer } from '../codec/writer.ts'
import { protocolError } from '../errors.ts'
import { keyPartition } from '../ids/stream-id.ts'
import { limits } from '../limits.ts'
import type { Extension, MessageBatch, MessageChain, StreamMessage } from './stream-message.ts'

/** Chains of urgent messages begin with it, in any partition but the key part. */
export const urgentChainPrefix = '!'

/** The extension that says what is urgent about a message. */
export const urgentExtension = 3

/**
 * Which of the waiting messages of a chain goes first: that of the oldest group, that of the newest, or only that of the newest, so that
 * object 0 of a group takes the place of older groups.
 */
export const urgentOrders = ['oldest', 'newest', 'newest-only'] as const
export type UrgentOrder = (typeof urgentOrders)[number]

/** What a publisher signs of an urgent message. */
export interface UrgentFields {
  /** How long it is of use, from its publisher to the last subscriber: 1 to `maxUrgentLifetimeMs`. */
  readonly lifetimeMs: number
  /** 0 goes first, 255 last. */
  readonly priority: number
  /** Messages that belong together, such as a picture and those that build on it. Unsigned 32 bits. */
  readonly group: number
  /** Its number in the group, from 0. Unsigned 32 bits. */
  readonly object: number
  readonly order: UrgentOrder
}

/** An urgent message that is to go over a link. */
export interface UrgentMessage extends Pick<UrgentFields, 'priority' | 'group' | 'object' | 'order'> {
  /** The batch that it is alone in. */
  readonly batchBytes: Uint8Array
  /** How many of its first bytes are the same in all messages of its chain: the header. */
  readonly headerBytes: number
  /** By the monotonic clock; after it nobody wants the message. */
  readonly deadlineMs: number
  /** Whose share of the link it takes. */
  readonly publisher: string
  /** Tells chains apart: groups are counted in each. */
  readonly chain: string
}

const writer = new Writer()

/** Throws LIMIT_EXCEEDED or MALFORMED_PACKET for fields that have no encoding. */
export function urgentExtensionOf({ lifetimeMs, priority, group, object, order }: UrgentFields): Extension {
  if (lifetimeMs < 1) throw protocolError('MALFORMED_PACKET', `a lifetime of ${lifetimeMs} ms`)
  writer.reset()
  writer.varint(withinLimit(lifetimeMs, limits.maxUrgentLifetimeMs, 'ms of an urgent message'))
  writer.u8(priority)
  writer.varint(group, maxU32)
  writer.varint(object, maxU32)
  writer.u8(urgentOrders.indexOf(order))
  return { type: urgentExtension, bytes: writer.view().slice() }
}

/** Whether its messages are urgent: not kept, not looked for, and of no use after their lifetime. */
export function isUrgentChain({
  partition,
  messageChainId,
}: Pick<MessageChain, 'partition' | 'messageChainId'>): boolean {
  return partition !== keyPartition && messageChainId.startsWith(urgentChainPrefix)
}

/** What is urgent about a message; undefined where nothing is, or where it cannot be read. */
export function urgentFieldsOf(
  message: Pick<StreamMessage, 'partition' | 'messageChainId' | 'extensions'>,
): UrgentFields | undefined {
  if (!isUrgentChain(message)) return undefined
  const found = message.extensions?.find(({ type }) => type === urgentExtension)
  if (found === undefined) return undefined
  try {
    return readFields(new Reader(found.bytes))
  } catch {
    return undefined
  }
}

function readFields(reader: Reader): UrgentFields | undefined {
  const lifetimeMs = reader.varint(limits.maxUrgentLifetimeMs)
  const [priority, group, object] = [reader.u8(), reader.varint(maxU32), reader.varint(maxU32)]
  const order = urgentOrders[reader.u8()]
  reader.end()
  if (lifetimeMs === 0 || order === undefined) return undefined
  return { lifetimeMs, priority, group, object, order }
}

/** The one message of an urgent batch, which names no previous one, and what is urgent about it; undefined where the batch is none. */
export function urgentMessageOf({
  messages,
}: Pick<MessageBatch, 'messages'>):
  { readonly message: StreamMessage; readonly fields: UrgentFields } | undefined {
  const [message, another] = messages
  if (message === undefined || another !== undefined || message.previous !== undefined) return undefined
  const fields = urgentFieldsOf(message)
  return fields && { message, fields }
}
