import { clientError, readUserFile, type UserConfig } from '@runnel/client'
import { nodeError } from '../errors.ts'
import { resolveKey, type KeySources } from './resolve-key.ts'

export interface UserSources extends KeySources {
  /** A delegation file or a key file from the command line. */
  readonly as?: string | undefined
}

/**
 * In whose name to act: that of the file named by `as`, else of the key file named by `key`, else of RUNNEL_AS, else what `resolveKey`
 * finds; undefined when there is nobody. Throws what is wrong with the file.
 */
export function resolveUser({ as, key, env }: UserSources): UserConfig | undefined {
  const file = as ?? (key === undefined && env['RUNNEL_AS'] !== '' ? env['RUNNEL_AS'] : undefined)
  if (file !== undefined) return readUserFile(file)
  const privateKey = resolveKey({ key, env })
  return privateKey === undefined ? undefined : { privateKey }
}

/** As `resolveUser`, for what only the user itself can do; throws KEY_REQUIRED, or NO_USER_KEY where there is a delegation only. */
export function requireUserKey(sources: UserSources): UserConfig {
  const user = resolveUser(sources)
  if (user === undefined) throw nodeError('KEY_REQUIRED')
  if (user.delegation !== undefined) throw clientError('NO_USER_KEY', 'this is a delegation')
  return user
}
