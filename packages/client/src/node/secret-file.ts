/** Secrets in files that only their owner can read, and that nothing overwrites. */
import {
  chmodSync,
  closeSync,
  fchmodSync,
  fstatSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { clientError, clientErrorWithRemedy, reasonOf } from '../errors.ts'

/** What the file holds: the beginning of its error codes. */
export type SecretKind = 'KEY_FILE' | 'DELEGATION_FILE' | 'READING_KEY_FILE' | 'TOKEN_FILE'

/** Permission bits of anybody but the owner. */
const othersBits = 0o077

/** What some give instead of a path. */
const keyDigits = /^(0x)?[0-9a-f]{64}$/i

const ifOthersHadAccess = {
  KEY_FILE: 'Make a new key if others had access.',
  DELEGATION_FILE: 'If others had access, take the delegation back with runnel key revoke, and make another.',
  TOKEN_FILE: 'If others had access, have what takes the token take another.',
  READING_KEY_FILE: 'If others had access, renew the key with runnel reading-key rotate.',
} as const satisfies Record<SecretKind, string>

/** What is wrong with a file that only its owner should read, and for the message which file. */
type FailSecret = (
  problem: 'MISSING' | 'UNREADABLE' | 'TOO_OPEN',
  detail: string,
  options?: { readonly cause?: unknown },
) => Error

/** The text of a file, as `readPrivateFile`. Throws …_MISSING, …_UNREADABLE, or …_TOO_OPEN. */
export function readSecretFile(kind: SecretKind, path: string): string {
  return readPrivateFile(path, (problem, detail, options) =>
    problem === 'TOO_OPEN'
      ? clientErrorWithRemedy(
          `${kind}_TOO_OPEN`,
          detail,
          `Run: chmod 600 ${path}. ${ifOthersHadAccess[kind]}`,
        )
      : clientError(`${kind}_${problem}`, detail, options),
  )
}

/**
 * The text of a file. The file that is looked at is the file that is read, whatever happens to its name in between. Throws what `fail`
 * makes, also when others may read it (not looked at on Windows).
 */
export function readPrivateFile(path: string, fail: FailSecret): string {
  const file = open(path, fail)
  try {
    const stats = fstatSync(file)
    const mode = stats.mode & 0o777
    // That a directory is none is said when it is read.
    if (process.platform !== 'win32' && !stats.isDirectory() && (mode & othersBits) !== 0)
      throw fail('TOO_OPEN', `${path} has mode ${mode.toString(8)}`)
    return readText(path, file, fail)
  } finally {
    closeSync(file)
  }
}

/** Writes a file with mode 600 in place of one there is: all of it or nothing. Throws what writing throws. */
export function replacePrivateFile(path: string, text: string): void {
  const next = `${path}.${process.pid}.new`
  writeFileSync(next, text, { mode: 0o600 })
  chmodSync(next, 0o600)
  renameSync(next, path)
}

/** Writes a new file with mode 600: all of it, or none is left. Throws …_EXISTS or …_UNWRITABLE. */
export function writeSecretFile(kind: Exclude<SecretKind, 'TOKEN_FILE'>, path: string, text: string): void {
  try {
    writeNewFile(path, text)
  } catch (cause) {
    if (codeOf(cause) === 'EEXIST') throw clientError(`${kind}_EXISTS`, path, { cause })
    throw clientError(`${kind}_UNWRITABLE`, `${path} (${reasonOf(cause)})`, { cause })
  }
}

function writeNewFile(path: string, text: string): void {
  const file = openSync(path, 'wx', 0o600)
  try {
    // The mode above is cut by the umask, this one is not.
    fchmodSync(file, 0o600)
    writeFileSync(file, text)
  } catch (cause) {
    // A disk may be full: what is half a key would be in the way of a whole one.
    rmSync(path, { force: true })
    throw cause
  } finally {
    closeSync(file)
  }
}

function open(path: string, fail: FailSecret): number {
  try {
    return openSync(path, 'r')
  } catch (cause) {
    // What fails here is logged, and a key has no place in logs.
    if (keyDigits.test(path)) throw fail('MISSING', 'a key in place of the path of its file')
    if (codeOf(cause) === 'ENOENT') throw fail('MISSING', path, { cause })
    throw fail('UNREADABLE', `${path} (${reasonOf(cause)})`, { cause })
  }
}

function readText(path: string, file: number, fail: FailSecret): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (cause) {
    throw fail('UNREADABLE', `${path} (${reasonOf(cause)})`, { cause })
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined
}
