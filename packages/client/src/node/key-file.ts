/** Private keys in files that only their owner can read. */
import { parsePrivateKey } from '@runnel/protocol'
import { readSecretFile, writeSecretFile } from './secret-file.ts'

/**
 * The key of a key file: 64 hexadecimal digits. Throws KEY_FILE_MISSING, KEY_FILE_UNREADABLE, KEY_FILE_TOO_OPEN when
 * others may read it (not looked at on Windows), or INVALID_KEY, without quoting it.
 */
export function readKeyFile(path: string): string {
  return parseKeyFile(readSecretFile('KEY_FILE', path))
}

/** The key in the text of a key file. Throws INVALID_KEY, without quoting it. */
export function parseKeyFile(text: string): string {
  return digitsOf(text.trim())
}

/** Writes a key to a new file with mode 600. Throws INVALID_KEY, KEY_FILE_EXISTS or KEY_FILE_UNWRITABLE. */
export function writeKeyFile(path: string, privateKey: string): void {
  writeSecretFile('KEY_FILE', path, `${digitsOf(privateKey)}\n`)
}

function digitsOf(privateKey: string): string {
  return Buffer.from(parsePrivateKey(privateKey)).toString('hex')
}
