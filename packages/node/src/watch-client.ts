import type { RunnelClient } from '@runnel/client'
import { protocolError, type NodeId, type RunnelError } from '@runnel/protocol'
import { withProgram } from './cli/program-name.ts'
import { encryptionSentence } from './encryption-news.ts'
import type { Logger } from './logger.ts'
import type { TrackerState } from './snapshot.ts'

/** Stream parts for which it is logged that messages cannot be opened. */
const maxNamedParts = 100

export interface TrackerWatch {
  states(): TrackerState[]
  /** Whether a tracker said that another process took the place of this node. */
  isReplaced(): boolean
  /** That connections end when the node stops is no news. */
  stop(): void
}

const sentence = ({ message, remedy }: RunnelError) => `${message}. ${withProgram(remedy)}`

/** Logs what happens between the node and its trackers, and remembers how things stand. */
export function watchTrackers(client: RunnelClient, logger: Logger): TrackerWatch {
  const states = new Map<NodeId, boolean>()
  let isReplaced = false
  client.network.on('replaced', () => (isReplaced = true))
  const stop = client.network.on('tracker', (nodeId, state, error) => {
    states.set(nodeId, state === 'connected')
    if (error?.code === 'NODE_REPLACED') logger.error({ tracker: nodeId, code: error.code }, sentence(error))
    else if (error) logger.warn({ tracker: nodeId, code: error.code }, error.message)
    else logger.info({ tracker: nodeId }, `tracker ${state}`)
  })
  client.network.on('linkFailed', (peer, { code, message }) =>
    logger.info({ peer, code }, `no link: ${message}`),
  )
  client.network.on('dropped', (counter, detail) => logger.debug({ counter }, detail))
  return {
    states: () => [...states].map(([nodeId, connected]) => ({ nodeId, connected })),
    isReplaced: () => isReplaced,
    stop,
  }
}

/**
 * Logs what becomes of the node's place in the network: whether it may take part, at the start where it may not and whenever that
 * changes, and that its delegation ends.
 */
export async function watchMembership(client: RunnelClient, logger: Logger): Promise<void> {
  const { userId } = client
  const sayError = (error: RunnelError) => logger.error({ code: error.code }, sentence(error))
  const { admissionProblem } = client
  if (admissionProblem !== undefined) sayError(admissionProblem)
  for await (const status of client.status()) {
    if (status.type === 'admission' && status.error !== undefined) sayError(status.error)
    else if (status.type === 'admission') logger.info({ userId }, 'the private network lists this user')
    if (status.type === 'delegation' && status.state === 'expired')
      sayError(protocolError('DELEGATION_EXPIRED', userId))
    if (status.type === 'delegation' && status.state === 'ending')
      logger.warn(
        { leftMs: status.leftMs },
        withProgram('the delegation ends soon: make a new file with runnel key delegate'),
      )
  }
}

/** How endpoints of the chain, or sources of the network's document, do: each change once. */
export async function watchEndpoints(client: RunnelClient, logger: Logger): Promise<void> {
  for await (const status of client.status()) {
    if (status.type !== 'endpoint') continue
    const { type: _, ...said } = status
    if (status.state === 'ok') logger.info(said, 'an endpoint of the registries works again')
    else logger.warn(said, 'an endpoint of the registries failed; others are used instead')
  }
}

/** What becomes of keys; and, once for each stream and reason, that messages cannot be opened. */
export async function watchEncryption(client: RunnelClient, logger: Logger): Promise<void> {
  const told = new Set<string>()
  for await (const status of client.status()) {
    if (status.type === 'encryption') {
      const level = status.state === 'rotated' || status.state === 'no-card' ? 'info' : 'warn'
      logger[level]({ streamId: status.streamId }, encryptionSentence(status.streamId, status))
    } else if (status.type === 'undecodable') {
      const { streamPartId, error } = status
      const name = `${streamPartId} ${error.code}`
      if (told.has(name) || told.size === maxNamedParts) continue
      told.add(name)
      logger.warn({ streamPart: streamPartId, code: error.code }, `left out: ${sentence(error)}`)
    }
  }
}

/** Faults: errors in this build that ended the work they were thrown in, and nothing else. */
export async function watchFaults(client: RunnelClient, logger: Logger): Promise<void> {
  for await (const status of client.status()) {
    if (status.type !== 'fault') continue
    const { streamPartId: streamPart, peerId: peer, error: err } = status
    const text =
      streamPart === undefined ? 'a fault' : 'a fault in a stream part, which is left and joined again'
    logger.error({ streamPart, peer, err }, `${text}; please report it`)
  }
}
