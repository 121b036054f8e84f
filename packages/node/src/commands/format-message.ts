import type { Message } from '@runnel/client'
import { messageFields, printableContent } from '../cli/message-fields.ts'
import { printableJson } from '../cli/printable.ts'

/**
 * One line of JSON: the content, or with `meta` the content and all that identifies the message, or where `isNamed` at least its stream.
 * Bytes become base64.
 */
export function formatMessage(message: Message, meta: boolean, isNamed = false): string {
  if (meta) return `${printableJson(messageFields(message))}\n`
  const content = printableContent(message.content)
  return `${printableJson(isNamed ? { streamId: message.streamId, content } : content)}\n`
}
