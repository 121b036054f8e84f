import type { PermissionName } from '@runnel/client'
import { toNodeId, type NodeId } from '@runnel/protocol'
import { nodeError } from '../errors.ts'
import { didYouMean } from '../cli/nearest.ts'

const permissionNames: readonly PermissionName[] = ['publish', 'subscribe', 'edit', 'delete', 'grant']

/** Positional arguments of `stream grant` and `stream revoke`. */
export const grantPositionals = {
  stream: { describe: 'Stream id: 0xowner/path', required: true },
  user: { describe: 'Address of the user, or public', required: true },
  permissions: { describe: permissionNames.join(', '), required: true, many: true },
} as const

/** Throws INVALID_NODE_ID. */
export function parseUser(text: string): NodeId | 'public' {
  return text === 'public' ? text : toNodeId(text)
}

/** Throws USAGE. */
export function parsePermissions(words: readonly string[]): PermissionName[] {
  return words.map((word) => {
    const name = permissionNames.find((candidate) => candidate === word)
    if (name === undefined)
      throw nodeError('USAGE', `no permission "${word}"${didYouMean(word, permissionNames)}`)
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
