import { questionKey, type Delegation, type NodeId, type PermissionScope } from '@runnel/protocol'
import type { NodeRecord } from './node-record.ts'

/** What a registry is asked: about a user in a stream or its key part, and its delegation; `cause` is the network, or the node, that makes us ask. */
export interface RegistryQuestion {
  readonly scope: PermissionScope
  readonly userId: NodeId
  readonly delegation: Delegation | undefined
  readonly cause: string
}

/**
 * The nodes about which the registry is being asked, by question: an answer is looked at for these, and not for all nodes of the user,
 * of which there may be a thousand that come at once. As many as are in the questions under way; each of those is answered.
 */
export class Askers {
  readonly #nodes = new Map<string, Set<NodeRecord>>()

  add(question: RegistryQuestion, node: NodeRecord): void {
    const key = keyOf(question)
    const nodes = this.#nodes.get(key)
    if (nodes === undefined) this.#nodes.set(key, new Set([node]))
    else nodes.add(node)
  }

  /** The nodes of a question that has been answered, which are forgotten. */
  take(question: RegistryQuestion): ReadonlySet<NodeRecord> {
    const key = keyOf(question)
    const nodes = this.#nodes.get(key) ?? new Set()
    this.#nodes.delete(key)
    return nodes
  }
}

function keyOf({ scope, userId, cause, delegation }: RegistryQuestion): string {
  return questionKey(scope, userId, cause, delegation)
}
