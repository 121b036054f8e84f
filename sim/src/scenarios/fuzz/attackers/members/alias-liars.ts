import {
  aliasedUrgentPacket,
  encodePacket,
  lossyCapability,
  packetBytes,
  PacketType,
  shortCapability,
  shortPacket,
  thinCapability,
  urgentCapability,
  type MessageBatch,
} from '@runnel/protocol'
import { chance, oneOf, wholeFrom } from '../../fuzz-plan.ts'
import { again, attackersAddress, type MakeAttacker } from '../attacker.ts'
import { RawMember } from '../raw-member.ts'

/** Batches of others, to make packets of. */
const remembered = 40
const names = [thinCapability, shortCapability, lossyCapability, urgentCapability]
const largestAlias = 2 ** 32 - 1

/**
 * Sends what stands for a header that nobody gave it, or for another one: batches and urgent messages by aliases that are not defined, defined
 * twice, far apart or another publisher's; what came before, again; and pieces of objects that it never completes.
 */
export const aliasLiars: MakeAttacker = (modules) => {
  const { fuzz, name, random } = modules
  const streamPartId = oneOf(fuzz.busyParts, random) ?? fuzz.world.streamPartId
  const capabilities = names.map((of) => ({ name: of, required: false }))
  const member = new RawMember({ name, streamParts: [streamPartId], capabilities }, fuzz.world)
  fuzz.addAttacker(member.nodeId, { mayPublish: false, address: attackersAddress(random) })
  const batches: MessageBatch[] = []
  const aliases: number[] = []
  const isForger = chance(0.5, random)
  member.onThin = (_, { alias }) => {
    if (aliases.push(alias) > remembered) aliases.shift()
  }
  member.onBatch = (batch) => {
    if (batches.push(batch) > remembered) batches.shift()
  }
  const alias = (): number => oneOf([...aliases, 1, 2, wholeFrom(1, largestAlias, random)], random) ?? 1

  /** Whoever puts the header of one chain before what another signed forges. */
  const short = (): Uint8Array | undefined => {
    const batch = oneOf(batches, random)
    if (batch === undefined) return undefined
    const given = isForger ? alias() : wholeFrom(2 ** 31, largestAlias, random)
    return shortPacket(packetBytes(PacketType.data, batch.bytes), {
      alias: given,
      headerBytes: batch.headerEnd,
    })
  }
  const replay = (): Uint8Array | undefined => {
    const batch = oneOf(batches, random)
    return batch && packetBytes(PacketType.data, batch.bytes)
  }
  const urgent = (): Uint8Array =>
    aliasedUrgentPacket({
      ...{ remainingMs: wholeFrom(0, 60_000, random), alias: wholeFrom(1, largestAlias, random) },
      ...{ headerBytes: 0, bytes: random.bytes(wholeFrom(1, 200, random)) },
    })
  const piece = (): Uint8Array =>
    encodePacket({
      ...{ type: 'piece', object: wholeFrom(0, largestAlias, random), index: 0 },
      ...{ count: wholeFrom(2, 64, random), remainingMs: wholeFrom(0, 60_000, random) },
      bytes: random.bytes(wholeFrom(1, 50, random)),
    })
  const kinds = [short, replay, urgent, piece]
  let end = (): void => {}
  return {
    async start() {
      await member.start()
      end = again(modules, { min: 20, max: 400 }, () => {
        const peerId = oneOf(member.attached(streamPartId), random)
        const make = oneOf(kinds, random)
        if (peerId === undefined || make === undefined) return
        for (let i = wholeFrom(1, 20, random); i > 0; i--) {
          const packet = make()
          if (packet !== undefined) member.sendBytes(peerId, packet)
        }
      })
    },
    stop() {
      end()
      member.stop()
    },
  }
}
