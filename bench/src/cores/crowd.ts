import {
  buildBatch,
  ContentType,
  packetBytes,
  PacketType,
  toStreamId,
  toStreamPartId,
  type Crypto,
  type Identity,
  type MessageChain,
  type MessageRef,
  type StreamPartId,
} from '@runnel/protocol'
import { newIdentity } from '../swarm.ts'

/** Fewer than a node remembers chains in one stream part. */
const publishersPerPart = 500

interface Member {
  readonly identity: Identity
  readonly chain: MessageChain
  previous: MessageRef | undefined
}

/** Many publishers in some streams, each of which publishes one message at a time, in turns. */
export class Crowd {
  readonly streamPartIds: readonly StreamPartId[]
  readonly #crypto: Crypto
  readonly #identities: readonly Identity[]
  readonly #contentBytes: number
  #members: Member[] = []
  #next = 0

  constructor(options: { name: string; publishers: number; contentBytes: number }, crypto: Crypto) {
    const { name, publishers, contentBytes } = options
    const parts = Math.ceil(publishers / publishersPerPart)
    const owner = newIdentity(crypto).nodeId
    this.#crypto = crypto
    this.#contentBytes = contentBytes
    this.#identities = Array.from({ length: publishers }, () => newIdentity(crypto))
    this.streamPartIds = Array.from({ length: parts }, (_, i) =>
      toStreamPartId(toStreamId(`${owner}/${name}-${i}`), 0),
    )
  }

  get size(): number {
    return this.#identities.length
  }

  /** From now on all begin new chains, as for a node that has seen none of them. */
  beginAnew(messageChainId: string): void {
    this.#next = 0
    this.#members = this.#identities.map((identity, i) => {
      const [streamId] = (this.streamPartIds[i % this.streamPartIds.length] ?? '').split('#')
      const publisherId = identity.nodeId
      const chain = { streamId: toStreamId(streamId ?? ''), partition: 0, publisherId, messageChainId }
      return { identity, chain, previous: undefined }
    })
  }

  /** The packets of the next messages, each a signed batch of its own, and which publisher's each is. */
  sign(count: number): readonly { readonly publisher: number; readonly packet: Uint8Array }[] {
    return Array.from({ length: count }, () => {
      const publisher = this.#next++ % this.#members.length
      return { publisher, packet: this.#packetOf(this.#members[publisher] as Member) }
    })
  }

  #packetOf(member: Member): Uint8Array {
    const { identity, chain, previous } = member
    const place = { timestamp: Date.now(), sequenceNumber: (previous?.sequenceNumber ?? 0) + 1 }
    member.previous = place
    const content = new Uint8Array(this.#contentBytes)
    const message = {
      ...{ ...place, previous, content },
      ...{ contentType: ContentType.binary, encryptionType: 0, groupKeyId: '' },
    }
    const { bytes } = buildBatch({ chain, messages: [message] }, this.#crypto, identity)
    return packetBytes(PacketType.data, bytes)
  }
}
