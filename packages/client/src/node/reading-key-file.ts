/** Reading keys in files that only their owner can read. */
import { decodeCard, isRunnelError } from '@runnel/protocol'
import * as z from 'zod/mini'
import { readingKeySchema, type ReadingKeyConfig } from '../config.ts'
import { clientError } from '../errors.ts'
import { bytesOfHex } from '../identity/bytes-of-hex.ts'
import { describeIssues } from '../registry/static-network.ts'
import { readSecretFile, writeSecretFile } from './secret-file.ts'

const fileSchema = z.strictObject({ version: z.literal(1), ...readingKeySchema.shape })

/**
 * Reads a reading key file; checks that it is well formed and nothing more. Throws READING_KEY_FILE_MISSING,
 * READING_KEY_FILE_UNREADABLE, READING_KEY_FILE_TOO_OPEN if others may read it (not checked on Windows), or
 * READING_KEY_FILE_INVALID, without quoting it.
 */
export function readReadingKeyFile(path: string): ReadingKeyConfig {
  const { version: _version, ...held } = parseFile(readSecretFile('READING_KEY_FILE', path), path)
  try {
    if (held.card !== undefined) decodeCard(bytesOfHex(held.card) ?? new Uint8Array())
  } catch (cause) {
    if (!isRunnelError(cause)) throw cause
    throw clientError('READING_KEY_FILE_INVALID', `${path}: ${cause.message}`, { cause })
  }
  return held
}

/**
 * Writes a reading key to a new file with mode 600. Throws READING_KEY_FILE_EXISTS or
 * READING_KEY_FILE_UNWRITABLE.
 */
export function writeReadingKeyFile(path: string, held: ReadingKeyConfig): void {
  const text = JSON.stringify({ version: 1, ...held }, undefined, 2)
  writeSecretFile('READING_KEY_FILE', path, `${text}\n`)
}

function parseFile(text: string, path: string): z.output<typeof fileSchema> {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    // The parser's own message would quote the text.
    throw clientError('READING_KEY_FILE_INVALID', `${path} is not JSON`)
  }
  const result = fileSchema.safeParse(value)
  if (!result.success)
    throw clientError('READING_KEY_FILE_INVALID', `${path}: ${describeIssues(result.error)}`)
  return result.data
}
