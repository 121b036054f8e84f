import type { ClientConfig } from '../config.ts'
import { parseDelegationFile } from './delegation-file.ts'
import { parseKeyFile } from './key-file.ts'
import { readSecretFile } from './secret-file.ts'

/** The user for whom a client acts. */
export type UserConfig = Pick<ClientConfig, 'privateKey' | 'delegation'>

/**
 * Reads the user for whom a process with this file acts, for `createClient`: from a delegation file, or from the key file of the
 * user itself. Throws the errors of `readDelegationFile`, or INVALID_KEY.
 */
export function readUserFile(path: string): UserConfig {
  const text = readSecretFile('DELEGATION_FILE', path)
  return text.trimStart().startsWith('{')
    ? { delegation: parseDelegationFile(text, path) }
    : { privateKey: parseKeyFile(text, path) }
}
