import { floodModes, thinCapability, type ChainHead, type DigestEntry, type NodeId } from '@runnel/protocol'
import { chance, oneOf, wholeFrom } from '../../fuzz-plan.ts'
import { again, attackersAddress, type MakeAttacker } from '../attacker.ts'
import { RawMember } from '../raw-member.ts'

/** Batches and aliases that it lies about. */
const remembered = 40
const entriesInDigest = 20

/**
 * Forwards now and then, so that it is asked for copies or digests, and lies about what it has: announces and never sends, names batches that
 * nobody published or that came with another signature, says that it has what it was never sent, and asks everybody for less. The same of urgent
 * messages, of which it also asks for what it was not told of.
 */
export const thinLiars: MakeAttacker = (modules) => {
  const { fuzz, name, random } = modules
  const streamPartId = oneOf(fuzz.busyParts, random) ?? fuzz.world.streamPartId
  const capabilities = [{ name: thinCapability, required: false }]
  const member = new RawMember({ name, streamParts: [streamPartId], capabilities }, fuzz.world)
  fuzz.addAttacker(member.nodeId, { mayPublish: false, address: attackersAddress(random) })
  const heads: ChainHead[] = []
  const aliases: { readonly peerId: NodeId; readonly alias: number }[] = []
  const generous = random.next()
  member.onThin = (peerId, { alias }) => {
    if (aliases.push({ peerId, alias }) > remembered) aliases.shift()
  }
  member.onBatch = (batch) => {
    const last = batch.messages.at(-1)
    if (last === undefined) return
    if (chance(generous, random)) member.flood(streamPartId, batch.bytes)
    const { timestamp, sequenceNumber } = last
    if (heads.push({ ...batch.chain, timestamp, sequenceNumber }) > remembered) heads.shift()
  }
  /** Mostly of what there is, or might be next. */
  const entryOf = (alias: number): DigestEntry => {
    const head = oneOf(heads, random) ?? { timestamp: fuzz.world.clock.now(), sequenceNumber: 0 }
    return {
      alias,
      isSenders: chance(0.3, random),
      timestamp: Math.max(0, head.timestamp + wholeFrom(-20, 2_000, random)),
      sequenceNumber: wholeFrom(0, 1, random),
      check: wholeFrom(0, 0xffffffff, random),
    }
  }
  let end = (): void => {}
  return {
    async start() {
      await member.start()
      end = again(modules, { min: 20, max: 400 }, () => {
        const asked = oneOf(aliases, random)
        const peerId = asked?.peerId ?? oneOf(member.attached(streamPartId), random)
        if (peerId === undefined) return
        const alias = asked?.alias ?? wholeFrom(0, 3, random)
        const entries = Array.from({ length: wholeFrom(1, entriesInDigest, random) }, () => entryOf(alias))
        member.send(peerId, {
          type: oneOf(['digest', 'urgentDigest', 'urgentPull'], random) ?? 'digest',
          entries,
        })
        const head = oneOf(heads, random)
        const mode = oneOf(floodModes, random)
        if (head === undefined || mode === undefined) return
        const { publisherId } = head
        const messageChainId = chance(0.3, random) ? '!sim' : head.messageChainId
        const forMs = wholeFrom(0, 60_000, random)
        member.send(peerId, {
          ...{ type: 'thin', streamPartId, publisherId, messageChainId },
          ...{ alias: wholeFrom(0, 3, random), mode, forMs },
        })
      })
    },
    stop() {
      end()
      member.stop()
    },
  }
}
