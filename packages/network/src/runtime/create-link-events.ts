import type { LinkEvents, LinksOwner } from '@runnel/transport'
import { decodePacket, readPackets, type NodeId, type StreamPartId } from '@runnel/protocol'
import type { Counters } from '../core/counters.ts'
import type { NodeEvent } from '../core/events.ts'
import type { Tracer } from '../trace/tracer.ts'
import type { DirectLinks } from './direct-links.ts'
import { failureReasonOf } from './failure-reason.ts'
import type { Faults } from './faults.ts'
import type { IncomingPackets } from './incoming-packets.ts'
import type { LatestQuestions } from './latest-questions.ts'
import type { Listeners } from './listeners.ts'
import type { Waiters } from './waiters.ts'

export interface LinkEventsModules {
  readonly links: Pick<LinksOwner, 'disconnect'>
  readonly incoming: IncomingPackets
  readonly direct: DirectLinks
  readonly latest: Pick<LatestQuestions, 'linkClosed'>
  readonly waiters: Waiters
  readonly listeners: Listeners
  readonly counters: Counters
  readonly tracer: Tracer | undefined
  readonly faults: Faults
  dispatch(event: NodeEvent): void
}

/** Tells the core, whoever waits and the listeners what becomes of links. An error in that is a fault of the peer's link. */
export function createLinkEvents(modules: LinkEventsModules): LinkEvents {
  const { links, incoming, direct, latest, waiters, listeners, counters, tracer, faults, dispatch } = modules
  const attempt = (peerId: NodeId, work: () => void): void => {
    try {
      work()
    } catch (error) {
      faults.report({ peerId }, error)
    }
  }
  return {
    onOpened: (peerId, { peerRole, saidFirst }) =>
      attempt(peerId, () => {
        if (peerRole !== 'node')
          return links.disconnect(peerId, 'PROTOCOL_VIOLATION', 'a tracker is no neighbour')
        tracer?.linkOpened(peerId)
        dispatch({ type: 'linkOpened', peerId, attached: saidFirst && attachedBy(saidFirst) })
        direct.check()
      }),
    onClosed: (peerId, { code, text }) =>
      attempt(peerId, () => {
        tracer?.linkClosed(peerId)
        dispatch({ type: 'linkClosed', peerId, reason: `${code} ${text}` })
        direct.closed(peerId, `${code} ${text}`)
        latest.linkClosed(peerId)
        listeners.emit('linkClosed', peerId)
      }),
    onFailed: (peerId, error) =>
      attempt(peerId, () => {
        dispatch({ type: 'linkFailed', peerId, reason: failureReasonOf(error) })
        direct.failed(peerId, error)
        listeners.emit('linkFailed', peerId, error)
      }),
    onPacket: (peerId, type, body, whole) => incoming.take(peerId, type, body, whole),
    onCredential: (peerId) => attempt(peerId, () => dispatch({ type: 'credentialRenewed', peerId })),
    onUrgentDropped: (_, why, message) => {
      counters[`urgent.${why}`]++
      if (message !== undefined && why !== 'truncated') listeners.emit('urgentDropped', why, message)
    },
    onUrgentRepeated: () => void counters['urgent.repeated']++,
    onUrgentRate: (peerId) => listeners.emit('urgentRate', peerId),
    onDrain: () => {
      waiters.check()
      direct.check()
    },
  }
}

/** The stream part of the attach that went behind our proof. */
function attachedBy(saidFirst: Uint8Array): StreamPartId | undefined {
  const [attach] = readPackets(saidFirst)
  const packet = attach && decodePacket(attach.type, attach.body)
  return packet?.type === 'attach' ? packet.streamPartId : undefined
}
