import { wholeFrom } from '../../fuzz-plan.ts'
import { crafted, draftAt, publishing } from '../publishing.ts'

/** Messages for which one batch each is sent at a time. */
const burst = 40
const apartMs = 4

/** Chains in which before each message another one is missing, that never existed. */
export const sparseRanges = publishing(({ member, streamPartId, fuzz, random }) => {
  const chains = wholeFrom(4, 12, random)
  const newestMs = new Map<number, number>()
  return {
    pauseMs: { min: 20, max: 200 },
    act() {
      const chain = wholeFrom(1, chains, random)
      const { identity } = member
      let timestamp = newestMs.get(chain) ?? fuzz.world.clock.now() - 20_000
      for (let left = burst; left > 0; left--) {
        timestamp += apartMs
        const [place, previous] = [timestamp, timestamp - 1].map((at) => ({
          timestamp: at,
          sequenceNumber: 0,
        }))
        if (place === undefined) break
        const at = { streamPartId, messageChainId: `sparse ${chain}`, identity }
        const batch = crafted(at, [draftAt(place, previous)], { fuzz })
        if (batch !== undefined) member.flood(streamPartId, batch)
      }
      newestMs.set(chain, timestamp)
    },
  }
})
