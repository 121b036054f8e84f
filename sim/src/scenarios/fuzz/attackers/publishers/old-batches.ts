import { oneOf, wholeFrom } from '../../fuzz-plan.ts'
import { crafted, draftAt, publishing } from '../publishing.ts'

const dayMs = 86_400_000
const ages = [1, 7, 30, 365]

/** What honest publishers signed long ago, as if it came just now. */
export const oldBatches = publishing(({ member, streamPartId, fuzz, random }) => {
  const identity = fuzz.world.identity('publisher of long ago')
  return {
    pauseMs: { min: 500, max: 3_000 },
    act() {
      const ageMs = (oneOf(ages, random) ?? 1) * dayMs
      const timestamp = fuzz.world.clock.now() - ageMs - wholeFrom(0, dayMs, random)
      const chain = { streamPartId, messageChainId: `old ${wholeFrom(1, 5, random)}`, identity }
      const batch = crafted(chain, [draftAt({ timestamp, sequenceNumber: 0 }, undefined)], { fuzz })
      if (batch !== undefined) member.flood(streamPartId, batch)
    },
  }
})
