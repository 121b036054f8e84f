import { maxU32 } from '../codec/fields.ts'
import { withinLimit, type Reader } from '../codec/reader.ts'
import type { Writer } from '../codec/writer.ts'
import { protocolError } from '../errors.ts'
import { limits } from '../limits.ts'
import type { Extension } from './stream-message.ts'

/** At least one, by ascending type. Throws LIMIT_EXCEEDED or MALFORMED_PACKET. */
export function writeExtensions(writer: Writer, extensions: readonly Extension[]): void {
  checkExtensions(extensions)
  writer.count(extensions.length, limits.maxExtensions, 'extensions')
  for (const { type, bytes } of extensions) {
    writer.varint(type)
    writer.count(bytes.length, limits.maxExtensionBytes, 'bytes of extensions')
    writer.raw(bytes)
  }
}

/** As they were written; views of what they are read from. */
export function readExtensions(reader: Reader): readonly Extension[] {
  const count = reader.count(limits.maxExtensions, 'extensions')
  const extensions: Extension[] = []
  for (let i = 0; i < count; i++) {
    const type = reader.varint(maxU32)
    extensions.push({
      type,
      bytes: reader.view(reader.count(limits.maxExtensionBytes, 'bytes of extensions')),
    })
  }
  checkExtensions(extensions)
  return extensions
}

function checkExtensions(extensions: readonly Extension[]): void {
  if (extensions.length === 0)
    throw protocolError('MALFORMED_PACKET', 'no extension where there should be one')
  const bytes = extensions.reduce((sum, extension) => sum + extension.bytes.length, 0)
  withinLimit(bytes, limits.maxExtensionBytes, 'bytes of extensions')
  const isOrdered = extensions.every(
    ({ type }, i) => type > (extensions[i - 1]?.type ?? -1) && type <= maxU32,
  )
  if (!isOrdered) throw protocolError('MALFORMED_PACKET', 'extensions out of order')
}
