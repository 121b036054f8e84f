/** Private keys in files that only their owner can read. */
import { parsePrivateKey, protocolError } from '@runnel/protocol'
import { readSecretFile, writeSecretFile } from './secret-file.ts'

/**
 * Reads the key in a key file: 64 hexadecimal digits. Throws KEY_FILE_MISSING, KEY_FILE_UNREADABLE,
 * KEY_FILE_TOO_OPEN if others may read it (not checked on Windows), or INVALID_KEY, without quoting it.
 */
export function readKeyFile(path: string): string {
  return parseKeyFile(readSecretFile('KEY_FILE', path), path)
}

/** The key in the text of a key file; `path` is for the message. Throws INVALID_KEY, without quoting it. */
export function parseKeyFile(text: string, path: string): string {
  try {
    return digitsOf(text.trim())
  } catch (cause) {
    const hint = ': give a delegation file with --as, import a keystore with runnel key import'
    throw protocolError('INVALID_KEY', `${path}${text.trimStart().startsWith('{') ? hint : ''}`, { cause })
  }
}

/** Writes a key to a new file with mode 600. Throws INVALID_KEY, KEY_FILE_EXISTS or KEY_FILE_UNWRITABLE. */
export function writeKeyFile(path: string, privateKey: string): void {
  writeSecretFile('KEY_FILE', path, `${digitsOf(privateKey)}\n`)
}

function digitsOf(privateKey: string): string {
  return Buffer.from(parsePrivateKey(privateKey)).toString('hex')
}
