import { networkLimits } from '@runnel/network'
import { compareRefs, type MessageRef } from '@runnel/protocol'
import { chance, oneOf, wholeFrom } from '../../fuzz-plan.ts'
import { crafted, draftAt, publishing } from '../publishing.ts'

const largestTime = 2 ** 48 - 1
const largestSequence = 2 ** 32 - 1
const sequences = [0, 1, 2, 1_000, 2 ** 31 - 1, 2 ** 31, largestSequence - 1, largestSequence]
const dayMs = 86_400_000

/** Every number of a batch at its extremes, and around every limit. */
export const extremeFields = publishing(({ member, streamPartId, fuzz, random }) => {
  const place = (): MessageRef => {
    const times = oneOf(extremeTimes(fuzz.world.clock.now()), random) ?? []
    return { timestamp: oneOf(times, random) ?? 0, sequenceNumber: oneOf(sequences, random) ?? 0 }
  }
  let chains = 1
  return {
    pauseMs: { min: 50, max: 600 },
    act() {
      if (chance(0.4, random)) chains++
      const places = Array.from({ length: wholeFrom(2, 4, random) }, place).sort(compareRefs)
      const [first, ...rest] = places.map((at, i) => draftAt(at, places[i - 1]))
      if (first === undefined) return
      const messages = chance(0.3, random) ? [first, ...rest] : rest
      const { identity } = member
      const messageChainId = `extreme ${wholeFrom(1, chains, random)}`
      // No receiver takes it apart when one place was drawn twice.
      const batch = crafted({ streamPartId, messageChainId, identity }, messages, { fuzz })
      if (batch !== undefined) member.flood(streamPartId, batch)
    },
  }
})

/** The beginning of time, around now and all limits, and the end of time. */
function extremeTimes(wallMs: number): number[][] {
  const { chainLookBackMs, clockToleranceMs, maxRecentAgeMs } = networkLimits
  const ages = [0, 1_000, chainLookBackMs, maxRecentAgeMs, dayMs, 365 * dayMs, -clockToleranceMs]
  return [
    [0, 1, 2, chainLookBackMs - 1, chainLookBackMs, chainLookBackMs + 1],
    ages.flatMap((ageMs) => [wallMs - ageMs - 1, wallMs - ageMs, wallMs - ageMs + 1]),
    [2 ** 31, 2 ** 32, wallMs - 365 * dayMs],
    [largestTime - 1, largestTime],
  ]
}
