import { networkLimits } from '@runnel/network'
import { wholeFrom } from '../../fuzz-plan.ts'
import { crafted, draftAt, publishing } from '../publishing.ts'

/** Of what others publish it keeps so much, to send it again. */
const maxHeard = 20

/** More chains than a stream part remembers, at once; and then what others have published once more. */
export const manyChains = publishing(({ member, streamPartId, fuzz, random }) => {
  const heard: Uint8Array[] = []
  member.onData = (packet) => {
    heard.push(packet)
    if (heard.length > maxHeard) heard.shift()
  }
  const { maxChains } = { ...networkLimits, ...fuzz.plan.limits }
  let made = 0
  return {
    pauseMs: { min: 500, max: 3_000 },
    act() {
      for (let left = wholeFrom(1, Math.ceil(maxChains * 1.2), random); left > 0; left--) {
        const chain = { streamPartId, messageChainId: `chain ${made++}`, identity: member.identity }
        const place = { timestamp: fuzz.world.clock.now(), sequenceNumber: 0 }
        const batch = crafted(chain, [draftAt(place, undefined)], { fuzz })
        if (batch !== undefined) member.flood(streamPartId, batch)
      }
      for (const packet of heard)
        for (const peerId of member.attached(streamPartId)) member.sendBytes(peerId, packet)
    },
  }
})
