import type { ClientConfig } from '../config.ts'
import { parseDelegationFile } from './delegation-file.ts'
import { parseKeyFile } from './key-file.ts'
import { readSecretFile } from './secret-file.ts'

/** In whose name a client acts. */
export type UserConfig = Pick<ClientConfig, 'privateKey' | 'delegation'>

/**
 * In whose name a process with this file acts: a delegation file, or the key file of the user itself; for `createClient`. Throws
 * what `readDelegationFile` throws, or INVALID_KEY.
 */
export function readUserFile(path: string): UserConfig {
  const text = readSecretFile('DELEGATION_FILE', path)
  return text.trimStart().startsWith('{')
    ? { delegation: parseDelegationFile(text, path) }
    : { privateKey: parseKeyFile(text, path) }
}
