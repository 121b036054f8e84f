import { readKeyFile } from '@runnel/client'
import { parsePrivateKey } from '@runnel/protocol'
import { nodeError } from '../errors.ts'

export interface KeySources {
  /** A key file from the command line or configuration. */
  readonly key?: string | undefined
  /** RUNNEL_KEY names a key file, RUNNEL_PRIVATE_KEY is a key. */
  readonly env: Readonly<Record<string, string | undefined>>
}

/** The key to work with: that of the file named, else of RUNNEL_KEY, else RUNNEL_PRIVATE_KEY; undefined when there is none. */
export function resolveKey({ key, env }: KeySources): string | undefined {
  const file = key ?? nonEmpty(env['RUNNEL_KEY'])
  if (file !== undefined) return readKeyFile(file)
  const privateKey = nonEmpty(env['RUNNEL_PRIVATE_KEY'])
  return privateKey === undefined ? undefined : Buffer.from(parsePrivateKey(privateKey)).toString('hex')
}

/** As `resolveKey`, but throws KEY_REQUIRED when there is none. */
export function requireKey(sources: KeySources): string {
  const key = resolveKey(sources)
  if (key === undefined) throw nodeError('KEY_REQUIRED')
  return key
}

function nonEmpty(text: string | undefined): string | undefined {
  return text === '' ? undefined : text
}
