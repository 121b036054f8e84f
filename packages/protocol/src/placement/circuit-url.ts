import type { NodeId } from '../ids/node-id.ts'

/** Trackers that a circuit passes at most, the one it leads to included. */
const maxCircuitTrackers = 3
const prefix = '/circuit/'
const id = /^0x[0-9a-f]{40}$/

/**
 * The URL of a circuit: a WebSocket that the tracker at `trackerUrl` carries on to the trackers in `path`, one after the other. The
 * last one is who answers. Undefined when there are too many of them.
 */
export function circuitUrl(trackerUrl: string, path: readonly NodeId[]): string | undefined {
  if (!isPath(path)) return undefined
  const url = new URL(trackerUrl)
  url.pathname = url.pathname.replace(/\/$/, '') + prefix + path.join('/')
  return url.href
}

/** The trackers that the path of a request names; undefined when it is not the path of a circuit. */
export function circuitPath(requestPath: string): readonly NodeId[] | undefined {
  if (!requestPath.startsWith(prefix)) return undefined
  const path = requestPath.slice(prefix.length).split('/')
  return path.every((text): text is NodeId => id.test(text)) && isPath(path) ? path : undefined
}

function isPath(path: readonly NodeId[]): boolean {
  return path.length > 0 && path.length <= maxCircuitTrackers && new Set(path).size === path.length
}
