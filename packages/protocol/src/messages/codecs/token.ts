import { readNodeId, writeNodeId } from '../../codec/fields.ts'
import type { Reader } from '../../codec/reader.ts'
import type { Writer } from '../../codec/writer.ts'
import { signatureBytes } from '../batch-codec.ts'
import type { AccessToken } from '../packets/membership.ts'

export function writeToken(writer: Writer, token: AccessToken): void {
  writeNodeId(writer, token.userId)
  writer.u48(token.expiresMs)
  writer.fixed(token.signature, signatureBytes, 'signature')
}

export function readToken(reader: Reader): AccessToken {
  return { userId: readNodeId(reader), expiresMs: reader.u48(), signature: reader.view(signatureBytes) }
}
