import { readFileSync } from 'node:fs'
import { nodeError } from '../errors.ts'

/** Certificate and key of a TLS server, PEM. */
export interface TlsFiles {
  readonly cert: string
  readonly key: string
}

/** Reads both files. Throws FILE_UNREADABLE. */
export function readTls(certFile: string, keyFile: string): TlsFiles {
  return { cert: readTextFile(certFile), key: readTextFile(keyFile) }
}

/** Throws FILE_UNREADABLE. */
export function readTextFile(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    throw nodeError('FILE_UNREADABLE', path, { cause })
  }
}
