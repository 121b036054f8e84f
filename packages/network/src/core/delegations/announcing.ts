import type { DelegationRef, NodeId } from '@runnel/protocol'
import type { OverlayEffects } from '../overlay-effects.ts'
import type { DelegationBook } from './delegation-book.ts'

/** Sends a neighbour each delegation once, before the first batch that is signed under it. */
export function announcing(effects: OverlayEffects, delegations: DelegationBook): OverlayEffects {
  const announce = (peerId: NodeId, ref: DelegationRef | undefined): void => {
    const delegation = ref === undefined ? undefined : delegations.takeFor(peerId, ref)
    if (delegation !== undefined) effects.sendControl(peerId, { type: 'delegation', delegation })
  }
  return {
    ...effects,
    sendData(peerId, packet, ref, way) {
      announce(peerId, ref)
      effects.sendData(peerId, packet, undefined, way)
    },
    sendUrgent(peerId, message, ref) {
      announce(peerId, ref)
      effects.sendUrgent(peerId, message)
    },
    sendControl(peerId, packet, mayLose) {
      if (packet.type === 'latest') announce(peerId, packet.batch?.delegationRef)
      effects.sendControl(peerId, packet, mayLose)
    },
  }
}
