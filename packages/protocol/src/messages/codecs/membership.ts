import type { Reader } from '../../codec/reader.ts'
import type { Writer } from '../../codec/writer.ts'
import type { Membership } from '../packets/membership.ts'
import { readFlag, writeFlag } from './flag.ts'
import { readOptional, writeOptional } from './optional.ts'
import { readToken, writeToken } from './token.ts'

/** A flag that it does not read, then its token, if it has one. */
export function writeMembership(writer: Writer, membership: Membership | undefined): void {
  writeFlag(writer, membership?.reads === false)
  writeOptional(writer, membership?.token, writeToken)
}

/** What a packet has of it: nothing where it reads in its own name, which is the usual. */
export function readMembership(reader: Reader): { readonly membership?: Membership } {
  const reads = !readFlag(reader)
  const token = readOptional(reader, readToken)
  return reads && token === undefined ? {} : { membership: { reads, token } }
}
