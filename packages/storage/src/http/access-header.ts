import { isRunnelError, Reader, readToken, Writer, writeToken, type AccessToken } from '@runnel/protocol'
import { storageError } from '../errors.ts'

const scheme = /^Runnel ((?:[0-9a-f]{2})+)$/i

/** The value of an `authorization` header that has a token. */
export function accessHeader(token: AccessToken): string {
  const writer = new Writer()
  writeToken(writer, token)
  return `Runnel ${Buffer.from(writer.view()).toString('hex')}`
}

/** The token in an `authorization` header; undefined without a header. Throws TOKEN_INVALID. */
export function parseAccessHeader(header: string | undefined): AccessToken | undefined {
  if (header === undefined) return undefined
  const digits = scheme.exec(header)?.[1]
  if (digits === undefined)
    throw storageError('TOKEN_INVALID', 'the header is not: Runnel and hexadecimal digits')
  try {
    const reader = new Reader(Buffer.from(digits, 'hex'))
    const token = readToken(reader)
    reader.end()
    return token
  } catch (cause) {
    if (!isRunnelError(cause)) throw cause
    throw storageError('TOKEN_INVALID', 'it is not well-formed', { cause })
  }
}
