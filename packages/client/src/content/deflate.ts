import { limits, type MessageDraft, type StreamMessage } from '@runnel/protocol'
import type { ContentStep, MessageContent } from './content-step.ts'

/** Added to a content type when the content is compressed. Clients that do not know it see bytes of an unknown type. */
const compressedFlag = 0x80
/** Smaller content is not compressed: compression would cost more than it saves. */
const minCompressedBytes = 1_024

/** Returns the content type inside a compressed content; undefined if the content is not compressed. */
export function typeInside(contentType: number): number | undefined {
  return contentType >= compressedFlag ? contentType - compressedFlag : undefined
}

/**
 * Compresses large contents as raw DEFLATE (RFC 1951), with the platform's own streams. Every client opens compressed content,
 * whether or not it compresses itself.
 */
export function deflateStep({ compress }: { readonly compress: boolean }): ContentStep {
  return {
    name: 'deflate',
    seal: (messages) =>
      compress && messages.some(isWorthIt) ? Promise.all(messages.map(compressed)) : messages,
    isSealed: ({ contentType, encryptionType }) => contentType >= compressedFlag && encryptionType === 0,
    open: decompressed,
  }
}

function isWorthIt({ content, contentType }: MessageDraft): boolean {
  return content.length >= minCompressedBytes && contentType < compressedFlag
}

/** As it is when it gets no smaller. */
async function compressed(message: MessageDraft): Promise<MessageContent> {
  if (!isWorthIt(message)) return message
  const content = await through(new CompressionStream('deflate-raw'), message.content, message.content.length)
  if (content === undefined) return message
  return { ...message, contentType: message.contentType + compressedFlag, content }
}

async function decompressed(message: StreamMessage): Promise<MessageContent> {
  const { contentType, content } = message
  const opened = await through(new DecompressionStream('deflate-raw'), content, limits.maxContentBytes + 1)
  if (opened === undefined) throw new Error(`more than ${limits.maxContentBytes} bytes`)
  return { ...message, contentType: contentType - compressedFlag, content: opened }
}

/** Reads a stream to its end. Stops and returns undefined as soon as it has read `tooManyBytes`. */
async function through(
  { readable, writable }: CompressionStream | DecompressionStream,
  bytes: Uint8Array,
  tooManyBytes: number,
): Promise<Uint8Array | undefined> {
  const writer = writable.getWriter()
  // Whatever goes wrong, the reader is told as well. The copy: these streams take no views of shared memory.
  void Promise.allSettled([writer.write(new Uint8Array(bytes)), writer.close()])
  const reader = (readable as ReadableStream<Uint8Array>).getReader()
  const chunks: Uint8Array[] = []
  let length = 0
  for (;;) {
    const { done, value } = await reader.read()
    if (done) break
    length += value.length
    if (length >= tooManyBytes) {
      await reader.cancel()
      return undefined
    }
    chunks.push(value)
  }
  return joined(chunks, length)
}

function joined(chunks: readonly Uint8Array[], length: number): Uint8Array {
  const all = new Uint8Array(length)
  let at = 0
  for (const chunk of chunks) {
    all.set(chunk, at)
    at += chunk.length
  }
  return all
}
