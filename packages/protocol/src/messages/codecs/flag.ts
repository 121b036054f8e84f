import type { Reader } from '../../codec/reader.ts'
import type { Writer } from '../../codec/writer.ts'
import { protocolError } from '../../errors.ts'

/** One byte: 0 or 1. */
export function writeFlag(writer: Writer, flag: boolean): void {
  writer.u8(flag ? 1 : 0)
}

export function readFlag(reader: Reader): boolean {
  const byte = reader.u8()
  if (byte > 1) throw protocolError('MALFORMED_PACKET', `${byte} for yes or no`)
  return byte === 1
}
