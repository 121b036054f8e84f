import { oneOf } from '../../fuzz-plan.ts'
import { again, attackersAddress, type MakeAttacker } from '../attacker.ts'
import { crafted, draftAt } from '../publishing.ts'
import { RawMember } from '../raw-member.ts'

const perTurn = 12

/** A neighbour that sends batches signed by ever new keys, each of which must be looked up. */
export const unknownPublishers: MakeAttacker = (modules) => {
  const { fuzz, name, random } = modules
  const streamPartId = oneOf(fuzz.busyParts, random) ?? fuzz.world.streamPartId
  const member = new RawMember({ name, streamParts: [streamPartId] }, fuzz.world)
  fuzz.addAttacker(member.nodeId, { mayPublish: false, address: attackersAddress(random) })
  let signed = 0
  let end = (): void => {}
  return {
    async start() {
      await member.start()
      end = again(modules, { min: 20, max: 150 }, () => {
        for (let i = 0; i < perTurn; i++) {
          const identity = fuzz.world.identity(`unknown of ${name} ${signed++}`)
          fuzz.addAttacker(identity.nodeId, { mayPublish: false })
          const place = { timestamp: fuzz.world.clock.now(), sequenceNumber: 0 }
          const chain = { streamPartId, messageChainId: 'new', identity }
          const batch = crafted(chain, [draftAt(place, undefined)], { fuzz })
          if (batch !== undefined) member.flood(streamPartId, batch)
        }
      })
    },
    stop() {
      end()
      member.stop()
    },
  }
}
