import { canConnect, scopeOfPart, type NodeId } from '@runnel/protocol'
import type { CoreState } from './core-state.ts'
import type { NodeTable } from './node-table.ts'
import type { StreamPartTracker } from './stream-part.ts'

/** The tracker as its stream parts see it. */
export function createPartHost(state: CoreState, nodeTable: NodeTable): StreamPartTracker {
  const { limits } = state
  const contactOf = (id: NodeId) => state.nodes.get(id)?.contact
  return {
    limits,
    contactOf,
    networkOf: (id) => state.nodes.get(id)?.network,
    publishes: (part, id) => {
      const node = state.nodes.get(id)
      return node !== undefined && state.roles.publishes(node, scopeOfPart(part))
    },
    isConnected: (id) => state.nodes.get(id)?.connected ?? false,
    avoids: (a, b) => {
      const [contactA, contactB] = [contactOf(a), contactOf(b)]
      if (contactA === undefined || contactB === undefined) return false
      return !canConnect(contactA, contactB) || state.avoided.has(a, b, state.nowMs)
    },
    avoid: (a, b) => {
      if (state.avoided.add(a, b, state.nowMs)) state.counters.count('avoidedPairsDropped')
    },
    permitSignals: (a, b) => state.signalling.permit(a, b, state.nowMs),
    hasOpenOffer: (id) => state.openOffers.isLeftBy(id),
    giveOpenOffer: (from, to) => state.openOffers.give(from, to, state.nowMs),
    send: (id, packet) => {
      state.counters.count('instructions')
      state.outbox.send(id, packet)
    },
    instruct: (member, packet) => {
      state.counters.count('instructions')
      state.schedule.resend.add(member, state.nowMs)
      state.outbox.send(member.nodeId, packet)
    },
    settle: (member) => {
      state.schedule.resend.delete(member)
    },
    expect: (part, id, contact) => nodeTable.expectNode(part, id, contact),
    onRemoved: (part, id) => {
      const node = state.nodes.get(id)
      node?.parts.delete(part)
      node?.unconfirmed.delete(part)
      if (node?.connected && node.parts.size === 0) state.schedule.idle.add(node, state.nowMs)
      const kept = state.roles.keptIn(id, part.id)
      if (kept !== undefined && state.storage.has(id, part.id)) kept.storing = true
      state.storage.delete(id, part.id)
      state.touched.add(part)
    },
    count: (name, by) => state.counters.count(name, by),
  }
}
