import { toNodeId, type NodeId } from '../ids/node-id.ts'

/** Trackers named by a circuit: those it passes after the dialled one, and the one it leads to. */
export const maxCircuitTrackers = 3

const room = 'circuit'
/** Instead of a tracker: here nodes wait for circuits to them. */
const waiting = 'wait'

/**
 * Where the last tracker of `path` can be dialled by a circuit: over the tracker with this URL, and then those before it in the
 * path. Throws what `new URL` throws.
 */
export function circuitUrl(url: string, path: readonly NodeId[]): string {
  const base = new URL(url)
  if (!base.pathname.endsWith('/')) base.pathname += '/'
  return new URL(`${room}/${path.join('/')}`, base).href
}

/**
 * The trackers that the path of a request names, the one it leads to last; what stands before `circuit/` does not matter.
 * Undefined when it is no circuit's path, names too many, or one twice.
 */
export function circuitPath(requestPath: string): NodeId[] | undefined {
  const parts = requestPath.split('/')
  const names = parts.slice(parts.lastIndexOf(room) + 1)
  if (names.length === parts.length || names.length === 0 || names.length > maxCircuitTrackers)
    return undefined
  try {
    const path = names.map((name) => toNodeId(name))
    return new Set(path).size === path.length ? path : undefined
  } catch {
    return undefined
  }
}

/** Where a node waits for circuits to it, at the node with this URL. Throws what `new URL` throws. */
export function waitingUrl(url: string): string {
  return new URL(`/${room}/${waiting}`, url).href
}

export function isWaitingPath(requestPath: string): boolean {
  return requestPath === `/${room}/${waiting}`
}
