import type { NeighbourReport } from '@runnel/protocol'
import { chance, oneOf, wholeFrom } from '../../fuzz-plan.ts'
import { again, attackersAddress, type MakeAttacker } from '../attacker.ts'
import { RawMember } from '../raw-member.ts'

/** The largest that a status can say. */
const largestRttMs = 6_553

/** Claims to be near to everybody, or infinitely far, to have neighbours that it does not have, and that others failed. */
export const falseReports: MakeAttacker = (modules) => {
  const { fuzz, name, random } = modules
  const streamPartId = oneOf(fuzz.busyParts, random) ?? fuzz.world.streamPartId
  const member = new RawMember({ name, streamParts: [streamPartId] }, fuzz.world)
  fuzz.addAttacker(member.nodeId, { mayPublish: false, address: attackersAddress(random) })
  const rttMs = (): number | undefined =>
    oneOf([undefined, 0, 0.1, 1, 100, largestRttMs, random.next() * 500], random)
  const report = (): NeighbourReport[] =>
    [...fuzz.nodes.keys()].filter(() => chance(0.5, random)).map((nodeId) => ({ nodeId, rttMs: rttMs() }))
  member.reports = (_, attached) =>
    chance(0.3, random) ? report() : attached.map((nodeId) => ({ nodeId, rttMs: rttMs() }))
  let end = (): void => {}
  return {
    async start() {
      await member.start()
      end = again(modules, { min: 200, max: 2_000 }, () => {
        if (chance(0.7, random)) return member.status(streamPartId)
        const failed = member
          .attached(streamPartId)
          .filter(() => chance(0.5, random))
          .map((nodeId) => ({ nodeId, reason: 'lost' as const }))
        const status = { type: 'status', streamPartId } as const
        const counter = wholeFrom(0, 50, random)
        member.send(fuzz.world.trackerId, { ...status, counter, neighbours: report(), failed })
      })
    },
    stop() {
      end()
      member.stop()
    },
  }
}
