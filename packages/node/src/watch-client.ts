import type { RunnelClient } from '@runnel/client'
import { TrackerClosedError } from '@runnel/network'
import { protocolError, type NodeId } from '@runnel/protocol'
import type { TrackerErrorCode } from '@runnel/tracker'
import { nodeError } from './errors.ts'
import type { Logger } from './logger.ts'
import type { TrackerState } from './snapshot.ts'

/** How a tracker says that another connection has taken the place of this one; a node opens one at a time. */
const replaced: TrackerErrorCode = 'REPLACED'

export interface TrackerWatch {
  states(): TrackerState[]
  /** That connections end when the node stops is no news. */
  stop(): void
}

/** Logs what happens between the node and its trackers, and remembers how things stand. */
export function watchTrackers(client: RunnelClient, logger: Logger): TrackerWatch {
  const states = new Map<NodeId, boolean>()
  let isDuplicateKnown = false
  const stop = client.network.on('tracker', (nodeId, state, error) => {
    states.set(nodeId, state === 'connected')
    if (error instanceof TrackerClosedError && error.closeCode === replaced) {
      const { code, message, remedy } = nodeError('DUPLICATE_NODE', client.nodeId)
      // The two take the connection from each other again and again: once said aloud is enough.
      logger[isDuplicateKnown ? 'debug' : 'error']({ tracker: nodeId, code }, `${message}. ${remedy}`)
      isDuplicateKnown = true
    } else if (error) logger.warn({ tracker: nodeId, code: error.code }, error.message)
    else logger.info({ tracker: nodeId }, `tracker ${state}`)
  })
  client.network.on('linkFailed', (peer, { code, message }) =>
    logger.info({ peer, code }, `no link: ${message}`),
  )
  client.network.on('dropped', (counter, detail) => logger.debug({ counter }, detail))
  return { states: () => [...states].map(([nodeId, connected]) => ({ nodeId, connected })), stop }
}

/** Logs whether a private network lists the node: at the start where it does not, and whenever that changes. */
export async function watchAdmission(client: RunnelClient, logger: Logger): Promise<void> {
  const { nodeId } = client
  const say = (isListed: boolean) => {
    if (isListed) return logger.info({ nodeId }, 'the private network lists this node')
    const { code, message, remedy } = protocolError('NODE_NOT_LISTED', nodeId)
    return logger.error({ code }, `${message}. ${remedy}`)
  }
  if (!client.isListed) say(false)
  for await (const status of client.status()) if (status.type === 'admission') say(status.isListed)
}

/** Faults: errors in this build that ended the work they were thrown in, and nothing else. */
export async function watchFaults(client: RunnelClient, logger: Logger): Promise<void> {
  for await (const status of client.status()) {
    if (status.type !== 'fault') continue
    const { streamPartId: streamPart, peerId: peer, error: err } = status
    const text =
      streamPart === undefined ? 'a fault' : 'a fault in a stream part: it is left and joined again'
    logger.error({ streamPart, peer, err }, `${text}; please report it`)
  }
}
