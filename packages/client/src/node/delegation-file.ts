/** Delegations, with the keys that act under them, in files that only their owner can read. */
import { decodeDelegation, isRunnelError, parsePrivateKey } from '@runnel/protocol'
import * as z from 'zod/mini'
import type { DelegationConfig } from '../config.ts'
import { clientError } from '../errors.ts'
import { describeIssues } from '../registry/static-network.ts'
import { readSecretFile, writeSecretFile } from './secret-file.ts'

const fileSchema = z.strictObject({
  version: z.literal(1),
  privateKey: z.string(),
  delegation: z
    .string()
    .check(z.regex(/^0x([0-9a-fA-F]{2})+$/, { error: 'must be 0x and hexadecimal digits' })),
})

/**
 * Reads a delegation file; checks that it is well formed and nothing more. Throws DELEGATION_FILE_MISSING,
 * DELEGATION_FILE_UNREADABLE, DELEGATION_FILE_TOO_OPEN if others may read it (not checked on Windows), or
 * DELEGATION_FILE_INVALID, without quoting it.
 */
export function readDelegationFile(path: string): DelegationConfig {
  return parseDelegationFile(readSecretFile('DELEGATION_FILE', path), path)
}

/** What the text of a delegation file says; `path` is for the message. Throws DELEGATION_FILE_INVALID, without quoting it. */
export function parseDelegationFile(text: string, path: string): DelegationConfig {
  const { privateKey, delegation } = parseFile(text, path)
  try {
    parsePrivateKey(privateKey)
    decodeDelegation(Buffer.from(delegation.slice(2), 'hex'))
  } catch (cause) {
    if (!isRunnelError(cause)) throw cause
    throw clientError('DELEGATION_FILE_INVALID', `${path}: ${cause.message}`, { cause })
  }
  return { privateKey, delegation }
}

/** Writes a delegation to a new file with mode 600. Throws DELEGATION_FILE_EXISTS or DELEGATION_FILE_UNWRITABLE. */
export function writeDelegationFile(path: string, { privateKey, delegation }: DelegationConfig): void {
  const text = JSON.stringify({ version: 1, privateKey, delegation }, undefined, 2)
  writeSecretFile('DELEGATION_FILE', path, `${text}\n`)
}

function parseFile(text: string, path: string): DelegationConfig {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    // The parser's own message would quote the text.
    throw clientError('DELEGATION_FILE_INVALID', `${path} is not JSON`)
  }
  const result = fileSchema.safeParse(value)
  if (!result.success)
    throw clientError('DELEGATION_FILE_INVALID', `${path}: ${describeIssues(result.error)}`)
  return result.data
}
