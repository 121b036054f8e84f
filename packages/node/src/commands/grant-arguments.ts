import { readFileSync, statSync } from 'node:fs'
import type { PermissionName } from '@runnel/client'
import { toNodeId, type NodeId } from '@runnel/protocol'
import { nodeError } from '../errors.ts'
import { didYouMean } from '../cli/nearest.ts'
import { streamPositional } from '../cli/stream-argument.ts'

const permissionNames: readonly PermissionName[] = ['publish', 'subscribe', 'edit', 'delete', 'grant']

/** Positional arguments of `stream grant` and `stream revoke`. */
export const grantPositionals = {
  stream: streamPositional,
  user: { describe: 'Address of the user, or public', required: true },
  permissions: { describe: permissionNames.join(', '), required: true, many: true },
} as const

/** Throws USAGE. */
export function parseUser(text: string): NodeId | 'public' {
  if (text === 'public') return text
  if (/^0x[0-9a-f]{40}$/i.test(text)) return toNodeId(text)
  throw nodeError(
    'USAGE',
    `"${text}" is no user: an address (0x and 40 hexadecimal digits), or public${didYouMean(text, ['public'])}`,
  )
}

/** Throws USAGE. */
export function parsePermissions(words: readonly string[]): PermissionName[] {
  return words.map((word) => {
    const name = permissionNames.find((candidate) => candidate === word)
    if (name === undefined)
      throw nodeError(
        'USAGE',
        `"${word}" is no permission: ${permissionNames.join(', ')}${didYouMean(word, permissionNames)}`,
      )
    return name
  })
}

/** Throws USAGE. */
export function parseDate(text: string): Date {
  const date = new Date(text)
  if (Number.isNaN(date.getTime()))
    throw nodeError('USAGE', `"${text}" is no date such as 2030-01-31 or 2030-01-31T12:00:00Z`)
  return date
}

/** Largest file of a card, which is one line of text. */
const maxCardFileBytes = 65_536

/** The text of a card. Throws USAGE. */
export function readCardFile(file: string): string {
  const isThere = statSync(file, { throwIfNoEntry: false })?.isFile() === true
  if (!isThere)
    throw nodeError(
      'USAGE',
      `there is no file ${file}; --card takes one with what runnel reading-key card prints`,
    )
  if (statSync(file).size > maxCardFileBytes) throw nodeError('USAGE', `${file} is too large for a card`)
  return readFileSync(file, 'utf8')
}
