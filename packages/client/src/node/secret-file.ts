/** Secrets in files that only their owner can read, and that nothing overwrites. */
import { chmodSync, closeSync, fstatSync, openSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { clientError, clientErrorWithRemedy, reasonOf } from '../errors.ts'

/** What the file holds: the beginning of its error codes. */
export type SecretKind = 'KEY_FILE' | 'DELEGATION_FILE' | 'READING_KEY_FILE' | 'TOKEN_FILE' | 'GATEWAY_FILE'

/** Permission bits of anybody but the owner. */
const othersBits = 0o077

const ifOthersHadAccess = {
  KEY_FILE: 'Make a new key if others had access.',
  DELEGATION_FILE: 'If others had access, take the delegation back with runnel key revoke, and make another.',
  TOKEN_FILE: 'If others had access, have what takes the token take another.',
  GATEWAY_FILE: 'It has no keys, only their hashes; but whoever may write it can let anybody in.',
  READING_KEY_FILE: 'If others had access, renew the key with runnel reading-key rotate.',
} as const satisfies Record<SecretKind, string>

/**
 * The text of a file. The file that is looked at is the file that is read, whatever happens to its name in between. Throws
 * …_MISSING, …_UNREADABLE, or …_TOO_OPEN when others may read it (not looked at on Windows).
 */
export function readSecretFile(kind: SecretKind, path: string): string {
  const file = open(kind, path)
  try {
    const stats = fstatSync(file)
    const mode = stats.mode & 0o777
    // That a directory is none is said when it is read.
    if (process.platform !== 'win32' && !stats.isDirectory() && (mode & othersBits) !== 0) {
      throw clientErrorWithRemedy(
        `${kind}_TOO_OPEN`,
        `${path} has mode ${mode.toString(8)}`,
        `Run: chmod 600 ${path}. ${ifOthersHadAccess[kind]}`,
      )
    }
    return readText(kind, path, file)
  } finally {
    closeSync(file)
  }
}

/** Writes a new file with mode 600. Throws …_EXISTS or …_UNWRITABLE. */
export function writeSecretFile(
  kind: Exclude<SecretKind, 'TOKEN_FILE' | 'GATEWAY_FILE'>,
  path: string,
  text: string,
): void {
  try {
    writeFileSync(path, text, { flag: 'wx', mode: 0o600 })
    // The mode above is cut by the umask, this one is not.
    chmodSync(path, 0o600)
  } catch (cause) {
    if (codeOf(cause) === 'EEXIST') throw clientError(`${kind}_EXISTS`, path, { cause })
    throw clientError(`${kind}_UNWRITABLE`, `${path} (${reasonOf(cause)})`, { cause })
  }
}

/** Writes a file with mode 600 in place of one there is, all of it or nothing. Throws GATEWAY_FILE_UNWRITABLE. */
export function replaceSecretFile(kind: 'GATEWAY_FILE', path: string, text: string): void {
  const next = `${path}.${process.pid}.new`
  try {
    writeFileSync(next, text, { mode: 0o600 })
    chmodSync(next, 0o600)
    renameSync(next, path)
  } catch (cause) {
    throw clientError(`${kind}_UNWRITABLE`, `${path} (${reasonOf(cause)})`, { cause })
  }
}

function open(kind: SecretKind, path: string): number {
  try {
    return openSync(path, 'r')
  } catch (cause) {
    if (codeOf(cause) === 'ENOENT') throw clientError(`${kind}_MISSING`, path, { cause })
    throw clientError(`${kind}_UNREADABLE`, `${path} (${reasonOf(cause)})`, { cause })
  }
}

function readText(kind: SecretKind, path: string, file: number): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (cause) {
    throw clientError(`${kind}_UNREADABLE`, `${path} (${reasonOf(cause)})`, { cause })
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined
}
