import type { Reader } from '../../codec/reader.ts'
import type { Writer } from '../../codec/writer.ts'
import { readFlag, writeFlag } from './flag.ts'

/** A flag, and what it announces. */
export function writeOptional<T>(
  writer: Writer,
  value: T | undefined,
  write: (writer: Writer, value: T) => void,
): void {
  writeFlag(writer, value !== undefined)
  if (value !== undefined) write(writer, value)
}

export function readOptional<T>(reader: Reader, read: (reader: Reader) => T): T | undefined {
  return readFlag(reader) ? read(reader) : undefined
}
