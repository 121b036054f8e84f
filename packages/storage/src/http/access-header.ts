import {
  decodeDelegation,
  encodeDelegation,
  isRunnelError,
  protocolError,
  Reader,
  readToken,
  Writer,
  writeToken,
  type AccessToken,
  type Delegation,
} from '@runnel/protocol'
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

/** The value of a `runnel-delegation` header: who signed the token acts under it. */
export function delegationHeader(delegation: Delegation): string {
  return Buffer.from(encodeDelegation(delegation)).toString('hex')
}

/** The delegation in a `runnel-delegation` header, as hexadecimal digits; undefined without one. Throws DELEGATION_FORGED. */
export function parseDelegationHeader(
  header: string | readonly string[] | undefined,
): Delegation | undefined {
  if (header === undefined) return undefined
  if (typeof header !== 'string' || !/^(?:[0-9a-f]{2})+$/i.test(header))
    throw protocolError('DELEGATION_FORGED', 'the header is not hexadecimal digits')
  try {
    return decodeDelegation(Buffer.from(header, 'hex'))
  } catch (cause) {
    if (!isRunnelError(cause)) throw cause
    throw protocolError('DELEGATION_FORGED', 'it is not well-formed', { cause })
  }
}
