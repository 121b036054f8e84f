/** Private keys in files that only their owner can read. */
import { chmodSync, closeSync, fstatSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { parsePrivateKey } from '@runnel/protocol'
import { clientError, clientErrorWithRemedy, reasonOf } from '../errors.ts'

/** Permission bits of anybody but the owner. */
const othersBits = 0o077

/**
 * The key of a key file: 64 hexadecimal digits. Throws KEY_FILE_MISSING, KEY_FILE_UNREADABLE, KEY_FILE_TOO_OPEN when
 * others may read it (not looked at on Windows), or INVALID_KEY, without quoting it.
 */
export function readKeyFile(path: string): string {
  const key = parsePrivateKey(readText(path).trim())
  return Buffer.from(key).toString('hex')
}

/** Writes a key to a new file with mode 600. Throws INVALID_KEY, KEY_FILE_EXISTS or KEY_FILE_UNWRITABLE. */
export function writeKeyFile(path: string, privateKey: string): void {
  const digits = Buffer.from(parsePrivateKey(privateKey)).toString('hex')
  try {
    writeFileSync(path, `${digits}\n`, { flag: 'wx', mode: 0o600 })
    // The mode above is cut by the umask, this one is not.
    chmodSync(path, 0o600)
  } catch (cause) {
    if (codeOf(cause) === 'EEXIST') throw clientError('KEY_FILE_EXISTS', path, { cause })
    throw clientError('KEY_FILE_UNWRITABLE', `${path} (${reasonOf(cause)})`, { cause })
  }
}

/** The file that is looked at is the file that is read, whatever happens to its name in between. */
function readText(path: string): string {
  const file = open(path)
  try {
    const mode = fstatSync(file).mode & 0o777
    if (process.platform !== 'win32' && (mode & othersBits) !== 0) {
      throw clientErrorWithRemedy(
        'KEY_FILE_TOO_OPEN',
        `${path} has mode ${mode.toString(8)}`,
        `Run: chmod 600 ${path}. Make a new key if others had access.`,
      )
    }
    return readFileSync(file, 'utf8')
  } finally {
    closeSync(file)
  }
}

function open(path: string): number {
  try {
    return openSync(path, 'r')
  } catch (cause) {
    if (codeOf(cause) === 'ENOENT') throw clientError('KEY_FILE_MISSING', path, { cause })
    throw clientError('KEY_FILE_UNREADABLE', `${path} (${reasonOf(cause)})`, { cause })
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined
}
