import {
  buildBatch,
  isRunnelError,
  parseStreamPartId,
  type Capability,
  type Identity,
  type MessageDraft,
  type MessageRef,
  type StreamPartId,
} from '@runnel/protocol'
import { oneOf } from '../fuzz-plan.ts'
import { again, attackersAddress, type AttackerModules, type MakeAttacker } from './attacker.ts'
import { RawMember } from './raw-member.ts'

/** A member of a stream part that publishes, or passes on, what it likes. */
export interface Publishing extends AttackerModules {
  readonly member: RawMember
  readonly streamPartId: StreamPartId
}

/** One of the things that a publisher does again and again. Made once for each attacker, as it may remember. */
export interface Misdeed {
  readonly pauseMs: { readonly min: number; readonly max: number }
  act(): void
}

/** An attacker that may publish and does one misdeed. */
export function publishing(
  make: (publishing: Publishing) => Misdeed,
  capabilities: readonly Capability[] = [],
): MakeAttacker {
  return (modules) => {
    const { fuzz, name, random } = modules
    const streamPartId = oneOf(fuzz.busyParts, random) ?? fuzz.world.streamPartId
    const member = new RawMember({ name, streamParts: [streamPartId], capabilities }, fuzz.world)
    fuzz.addAttacker(member.nodeId, { mayPublish: true, address: attackersAddress(random) })
    const { pauseMs, act } = make({ ...modules, member, streamPartId })
    let end = (): void => {}
    return {
      async start() {
        await member.start()
        end = again(modules, pauseMs, act)
      },
      stop() {
        end()
        member.stop()
      },
    }
  }
}

export interface CraftedChain {
  readonly streamPartId: StreamPartId
  readonly messageChainId: string
  readonly identity: Identity
}

/** A message with nothing in it but its place. */
export function draftAt(place: MessageRef, previous: MessageRef | undefined): MessageDraft {
  const { timestamp, sequenceNumber } = place
  const what = { contentType: 0, encryptionType: 0, groupKeyId: '', content: new Uint8Array(1) }
  return { timestamp, sequenceNumber, previous, ...what }
}

/** A signed batch; undefined when no receiver would take it apart. */
export function crafted(
  { streamPartId, messageChainId, identity }: CraftedChain,
  messages: readonly MessageDraft[],
  { fuzz }: Pick<AttackerModules, 'fuzz'>,
): Uint8Array | undefined {
  const { streamId, partition } = parseStreamPartId(streamPartId)
  const chain = { streamId, partition, publisherId: identity.nodeId, messageChainId }
  try {
    return buildBatch({ chain, messages }, fuzz.world.crypto, identity).bytes
  } catch (error) {
    if (isRunnelError(error)) return undefined
    throw error
  }
}
