import type { ClientConfig } from '@runnel/client/browser'

/** In whose name this page takes part. `nobody`: a user of its own, whom nobody has granted anything. */
export type ActsAs =
  | { readonly kind: 'nobody' }
  | { readonly kind: 'wallet' }
  | { readonly kind: 'files'; readonly user: UserOfFiles }

export type UserOfFiles = Pick<ClientConfig, 'privateKey' | 'delegation' | 'readingKey'>

/** Characters of a file that is read. */
export const maxKeyFileChars = 64 * 1024

const keyPattern = /^(?:0x)?[0-9a-f]{64}$/i
const hexPattern = /^0x(?:[0-9a-f]{2})+$/i

/**
 * The user whose files these texts are: a key file alone, or a delegation file with the reading key file of its user, as the command
 * line writes them. Throws an error with the code NO_KEY_FILE, or KEY_FILES_APART for files that do not go together, without quoting one.
 */
export function userOfFiles(texts: readonly string[]): UserOfFiles {
  const parts = texts.map(partOfUser)
  const user = Object.assign({}, ...parts) as UserOfFiles
  const hasKey = user.privateKey !== undefined
  const hasDelegation = user.delegation !== undefined
  // Of two of one kind only one would count.
  if (Object.keys(user).length < parts.length || (hasKey && hasDelegation)) throw filesApart()
  if (!hasKey && !hasDelegation) throw noKeyFile()
  return user
}

function partOfUser(text: string): UserOfFiles {
  const trimmed = text.trim()
  if (keyPattern.test(trimmed)) return { privateKey: trimmed }
  const { version, privateKey, delegation, userId, generation, secret, card } = objectIn(trimmed)
  if (version !== 1) throw noKeyFile()
  if (isLike(privateKey, keyPattern) && isLike(delegation, hexPattern))
    return { delegation: { privateKey, delegation } }
  const isReadingKey = isLike(userId, hexPattern) && typeof generation === 'number'
  if (!isReadingKey || !isLike(secret, keyPattern)) throw noKeyFile()
  return { readingKey: { userId, generation, secret, ...(isLike(card, hexPattern) && { card }) } }
}

function objectIn(text: string): Partial<Record<string, unknown>> {
  try {
    return (JSON.parse(text) ?? {}) as Partial<Record<string, unknown>>
  } catch {
    // The parser's own message would quote the text.
    throw noKeyFile()
  }
}

function isLike(value: unknown, pattern: RegExp): value is string {
  return typeof value === 'string' && pattern.test(value)
}

function filesApart(): Error {
  return Object.assign(new Error('files that do not go together'), { code: 'KEY_FILES_APART' })
}

function noKeyFile(): Error {
  return Object.assign(new Error('no such files'), { code: 'NO_KEY_FILE' })
}
