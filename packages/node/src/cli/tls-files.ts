import { readFileSync } from 'node:fs'
import { nodeError } from '../errors.ts'

/** The settings of a server that speaks TLS where both are given. */
export interface TlsSettings {
  readonly certFile?: string | undefined
  readonly keyFile?: string | undefined
}

/** Certificate and key of a TLS server, PEM. */
export interface TlsFiles {
  readonly cert: string
  readonly key: string
}

/** For `refine` of a schema: half a pair is a mistake, rather than a server without TLS. */
export const tlsPair = [
  ({ certFile, keyFile }: TlsSettings) => (certFile === undefined) === (keyFile === undefined),
  'certFile and keyFile go together',
] as const

/** Reads both files of a pair; undefined where there is none: no TLS. Throws FILE_UNREADABLE. */
export function readTls({ certFile, keyFile }: TlsSettings): TlsFiles | undefined {
  if (certFile === undefined || keyFile === undefined) return undefined
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
