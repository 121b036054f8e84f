import { urgentCapability, urgentPacket } from '@runnel/protocol'
import { UrgentPublisher } from '../../../../world/urgent-publisher.ts'
import { wholeFrom } from '../../fuzz-plan.ts'
import { publishing } from '../publishing.ts'

const longestMs = 60_000

/** Claims for all of its many messages that they go first and are of use for long; and for some more time than it signed. */
export const urgentFlood = publishing(
  ({ member, streamPartId, fuzz, random }) => {
    const { clock, crypto } = fuzz.world
    const publisher = new UrgentPublisher({ streamPartId }, { clock, crypto, identity: member.identity })
    return {
      pauseMs: { min: 20, max: 200 },
      act() {
        for (let i = wholeFrom(1, 40, random); i > 0; i--) {
          const lifetimeMs = wholeFrom(1, longestMs, random)
          const { bytes } = publisher.next(new Uint8Array(wholeFrom(1, 1_000, random)), {
            lifetimeMs,
            priority: 0,
          })
          const packet = urgentPacket(wholeFrom(0, Math.min(longestMs, lifetimeMs + 1), random), bytes)
          for (const peerId of member.attached(streamPartId)) member.sendBytes(peerId, packet)
        }
      },
    }
  },
  [{ name: urgentCapability, required: false }],
)
