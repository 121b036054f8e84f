import type { MessageRef } from '@runnel/protocol'
import { crafted, draftAt, publishing } from '../publishing.ts'

/** Two signed messages for one place, one for each half of the neighbours, and some chains that then part. */
export const equivocation = publishing(({ member, streamPartId, fuzz }) => {
  let previous: MessageRef | undefined
  return {
    pauseMs: { min: 100, max: 1_000 },
    act() {
      const place = { timestamp: fuzz.world.clock.now(), sequenceNumber: 0 }
      const chain = { streamPartId, messageChainId: 'two-faced', identity: member.identity }
      const peers = member.attached(streamPartId)
      const half = Math.ceil(peers.length / 2)
      for (const [face, to] of [peers.slice(0, half), peers.slice(half)].entries()) {
        const message = { ...draftAt(place, previous), content: Uint8Array.of(face) }
        const batch = crafted(chain, [message], { fuzz })
        if (batch !== undefined) member.flood(streamPartId, batch, to)
      }
      previous = place
    },
  }
})
