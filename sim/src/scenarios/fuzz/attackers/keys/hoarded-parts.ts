import { toStreamId, toStreamPartId } from '@runnel/protocol'
import { again, attackersAddress, type MakeAttacker } from '../attacker.ts'
import { RawMember } from '../raw-member.ts'

const partsPerKey = 20

/** Keys that join empty stream parts of streams that do not exist. */
export const hoardedParts: MakeAttacker = (modules) => {
  const { fuzz, name, random } = modules
  const members: RawMember[] = []
  let end = (): void => {}
  return {
    async start() {
      const most = Math.ceil((fuzz.plan.attackersKeys ?? 0) / 4)
      end = again(modules, { min: 50, max: 300 }, () => {
        if (members.length >= most) return
        const key = `${name} ${members.length}`
        const { nodeId } = fuzz.world.identity(key)
        fuzz.addAttacker(nodeId, { mayPublish: false, address: attackersAddress(random) })
        const stream = toStreamId(`${nodeId}/none`)
        const streamParts = Array.from({ length: partsPerKey }, (_, i) => toStreamPartId(stream, i))
        const member = new RawMember({ name: key, streamParts }, fuzz.world)
        members.push(member)
        void member.start()
      })
    },
    stop() {
      end()
      for (const member of members) member.stop()
    },
  }
}
