import { encodePacket, type DelegationRef, type DirectPacket, type NodeId } from '@runnel/protocol'
import type { Links } from '@runnel/transport'
import type { NodeCore } from '../core/node-core.ts'

interface SendDirectModules {
  readonly core: Pick<NodeCore, 'delegations'>
  readonly links: Pick<Links, 'send'>
}

/** Sends a packet to one peer, after the delegation that it refers to. False when it does not get through. */
export function sendDirect(modules: SendDirectModules, peerId: NodeId, packet: DirectPacket): boolean {
  const ref = packet.type === 'resendData' ? packet.batch.delegationRef : undefined
  if (ref !== undefined && !sendDelegation(modules, peerId, ref)) return false
  return modules.links.send(peerId, encodePacket(packet))
}

/** To a peer that lacks it. */
function sendDelegation({ core, links }: SendDirectModules, peerId: NodeId, ref: DelegationRef): boolean {
  const { delegations } = core
  const delegation = delegations.takeFor(peerId, ref)
  if (delegation === undefined) return true
  const isSent = links.send(peerId, encodePacket({ type: 'delegation', delegation }))
  if (!isSent) delegations.notSent(peerId, ref)
  return isSent
}
