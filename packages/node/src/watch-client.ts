import type { RunnelClient } from '@runnel/client'
import { protocolError, type NodeId } from '@runnel/protocol'
import type { Logger } from './logger.ts'
import type { TrackerState } from './snapshot.ts'

export interface TrackerWatch {
  states(): TrackerState[]
  /** That connections end when the node stops is no news. */
  stop(): void
}

/** Logs what happens between the node and its trackers, and remembers how things stand. */
export function watchTrackers(client: RunnelClient, logger: Logger): TrackerWatch {
  const states = new Map<NodeId, boolean>()
  const stop = client.network.on('tracker', (nodeId, state, error) => {
    states.set(nodeId, state === 'connected')
    if (error?.code === 'NODE_REPLACED')
      logger.error({ tracker: nodeId, code: error.code }, `${error.message}. ${error.remedy}`)
    else if (error) logger.warn({ tracker: nodeId, code: error.code }, error.message)
    else logger.info({ tracker: nodeId }, `tracker ${state}`)
  })
  client.network.on('linkFailed', (peer, { code, message }) =>
    logger.info({ peer, code }, `no link: ${message}`),
  )
  client.network.on('dropped', (counter, detail) => logger.debug({ counter }, detail))
  return { states: () => [...states].map(([nodeId, connected]) => ({ nodeId, connected })), stop }
}

/** Logs whether a private network lists the user: at the start where it does not, and whenever that changes. */
export async function watchAdmission(client: RunnelClient, logger: Logger): Promise<void> {
  const { userId } = client
  const say = (isListed: boolean) => {
    if (isListed) return logger.info({ userId }, 'the private network lists this user')
    const { code, message, remedy } = protocolError('NODE_NOT_LISTED', userId)
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
