import { networkLimits } from '@runnel/network'
import { wholeFrom } from '../../fuzz-plan.ts'
import { crafted, draftAt, publishing } from '../publishing.ts'

const perTurn = 40
/** All of them together, for each missing range that may be remembered. */
const perRange = 10
const apartMs = 4

/** Chains in which before each message another one is missing, that never existed. */
export const sparseRanges = publishing(({ member, streamPartId, fuzz, random }) => {
  const { maxMissingRanges } = { ...networkLimits, ...fuzz.plan.limits }
  const chains = wholeFrom(4, 12, random)
  const newestMs = new Map<number, number>()
  let left = perRange * maxMissingRanges
  return {
    pauseMs: { min: 20, max: 200 },
    act() {
      const number = wholeFrom(1, chains, random)
      const chain = { streamPartId, messageChainId: `sparse ${number}`, identity: member.identity }
      let timestamp = newestMs.get(number) ?? fuzz.world.clock.now() - 20_000
      for (let i = 0; i < perTurn && left > 0; i++, left--) {
        timestamp += apartMs
        const draft = draftAt(
          { timestamp, sequenceNumber: 0 },
          { timestamp: timestamp - 1, sequenceNumber: 0 },
        )
        const batch = crafted(chain, [draft], { fuzz })
        if (batch !== undefined) member.flood(streamPartId, batch)
      }
      newestMs.set(number, timestamp)
    },
  }
})
