import type { NodeSummary } from './api/answers.ts'
import { shownText } from './format.ts'

const roles = new Map([
  ['node', 'node'],
  ['storage', 'storage node'],
  ['client', 'program'],
  ['page', 'web page'],
])

/** What a node is: a storage node where a tracker knows that it stores, else what it says. */
export function roleOf({ role }: Pick<NodeSummary, 'role'>, stores: boolean): string {
  if (stores) return 'storage node'
  return role === null ? 'node' : (roles.get(role) ?? shownText(role))
}
