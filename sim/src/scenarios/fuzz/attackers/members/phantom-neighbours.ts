import { oneOf, wholeFrom } from '../../fuzz-plan.ts'
import { again, attackersAddress, type MakeAttacker } from '../attacker.ts'
import { RawMember } from '../raw-member.ts'

/** Joins again and again, and names neighbours that do not exist. */
export const phantomNeighbours: MakeAttacker = (modules) => {
  const { fuzz, name, random } = modules
  const streamPartId = oneOf(fuzz.busyParts, random) ?? fuzz.world.streamPartId
  const member = new RawMember({ name, streamParts: [streamPartId] }, fuzz.world)
  fuzz.addAttacker(member.nodeId, { mayPublish: false, address: attackersAddress(random) })
  let named = 0
  const phantoms = (): { nodeId: typeof member.nodeId; rttMs: number }[] =>
    Array.from({ length: wholeFrom(1, 3, random) }, () => ({
      nodeId: fuzz.world.identity(`phantom of ${name} ${named++}`).nodeId,
      rttMs: 1,
    }))
  member.reports = phantoms
  let end = (): void => {}
  return {
    async start() {
      await member.start()
      end = again(modules, { min: 1_000, max: 2_500 }, () => {
        member.send(fuzz.world.trackerId, { type: 'leave', streamPartId })
        member.status(streamPartId)
      })
    },
    stop() {
      end()
      member.stop()
    },
  }
}
