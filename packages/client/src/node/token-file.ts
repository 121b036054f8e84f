/** Tokens in files that only their owner can read. */
import { clientError } from '../errors.ts'
import { readSecretFile } from './secret-file.ts'

/**
 * Reads the token in a file, for instance for `remoteSigner`: printable ASCII without spaces. Throws TOKEN_FILE_MISSING,
 * TOKEN_FILE_UNREADABLE, TOKEN_FILE_TOO_OPEN if others may read it (not checked on Windows), or TOKEN_FILE_INVALID, without
 * quoting it.
 */
export function readTokenFile(path: string): string {
  const token = readSecretFile('TOKEN_FILE', path).trim()
  // Anything else would not pass a header.
  if (!/^[\x21-\x7e]+$/.test(token)) throw clientError('TOKEN_FILE_INVALID', path)
  return token
}
