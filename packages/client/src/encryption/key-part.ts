import type { NetworkNode } from '@runnel/network'
import {
  buildBatch,
  ContentType,
  decodeKeyRecord,
  EncryptionType,
  encodeKeyRecord,
  isRunnelError,
  keyPartition,
  limits,
  type Clock,
  type Crypto,
  type KeyRecord,
  type NodeId,
  type Random,
  type StreamMessage,
} from '@runnel/protocol'
import { LRU } from 'tiny-lru'
import type { ActingUser } from '../identity/acting-user.ts'
import type { StreamInfo } from '../registry/ports.ts'
import type { HistorySource } from '../resend/history-source.ts'
import type { MessagePlace } from '../resend/wait-for-storage.ts'
import type { StreamParts } from '../stream-parts.ts'

/** A record and who signed it. */
export interface FoundRecord {
  readonly publisherId: NodeId
  readonly messageChainId: string
  readonly record: KeyRecord
}

export interface KeyPartModules {
  readonly node: NetworkNode
  readonly parts: StreamParts
  readonly history: HistorySource
  readonly user: Pick<ActingUser, 'userId' | 'signer'>
  readonly crypto: Crypto
  readonly clock: Clock
  readonly random: Random
}

/** Records of a stream kept from what floods: about 10 MB at most, mostly far less. */
const maxRecent = 1_000

/** The part of a stream in which its keys are: publishes records, finds them, and hears of new ones. */
export class KeyPart {
  /** Hears of each record that floods, checked as messages are. */
  onRecord: (found: FoundRecord) => void = () => {}
  readonly #stream: StreamInfo
  readonly #modules: KeyPartModules
  readonly #recent = new LRU<FoundRecord>(maxRecent)
  /** The time of the last record of each chain that goes on. */
  #lastMs = 0
  #leave: (() => void) | undefined

  constructor(options: { readonly stream: StreamInfo }, modules: KeyPartModules) {
    this.#stream = options.stream
    this.#modules = modules
  }

  /** Joins its overlay. Idempotent. */
  join(): void {
    // Each record stands by itself: there are no gaps between them.
    this.#leave ??= this.#modules.parts.join(this.#stream, keyPartition, { fillGaps: false })
  }

  leave(): void {
    this.#leave?.()
    this.#leave = undefined
  }

  /** Signs a record and floods it. Returns its place, to wait until it is stored. */
  publish(messageChainId: string, record: KeyRecord): MessagePlace {
    const { node, user, crypto, clock, random } = this.#modules
    this.join()
    this.#lastMs = Math.max(clock.now(), this.#lastMs + 1)
    // Two processes of one user may write to the same chain: with a random number they do not take the same place.
    const ref = { timestamp: this.#lastMs, sequenceNumber: Math.floor(random.next() * 2 ** 32) }
    const chain = {
      streamId: this.#stream.id,
      partition: keyPartition,
      publisherId: user.userId,
      messageChainId,
    }
    const message = {
      ...{ ...ref, previous: undefined, contentType: ContentType.binary },
      ...{ encryptionType: EncryptionType.none, groupKeyId: '', content: encodeKeyRecord(record) },
    }
    node.publish(buildBatch({ chain, messages: [message] }, crypto, user.signer).bytes)
    this.#keep({ publisherId: user.userId, messageChainId, record })
    return { ...chain, ...ref }
  }

  /** A message of this part came. */
  receive({ publisherId, messageChainId, content }: StreamMessage): void {
    const record = decoded(content)
    if (record === undefined) return
    const found = { publisherId, messageChainId, record }
    this.#keep(found)
    this.onRecord(found)
  }

  /** The newest record of a chain that was seen or published here. */
  recent(publisherId: NodeId, messageChainId: string): KeyRecord | undefined {
    return this.#recent.get(`${publisherId} ${messageChainId}`)?.record
  }

  /**
   * The newest record of a chain: what was seen of it, else what storage nodes have; undefined where there is none. Throws what the
   * registry throws, and ABORTED.
   */
  async find(
    publisherId: NodeId,
    messageChainId: string,
    signal: AbortSignal,
  ): Promise<KeyRecord | undefined> {
    const known = this.recent(publisherId, messageChainId)
    if (known !== undefined) return known
    const [found] = await this.#stored({ publisherId, messageChainId }, 1, signal)
    if (found !== undefined) this.#keep(found)
    return found?.record
  }

  /** The newest records of all, for what is nowhere else. */
  newest(count: number, signal: AbortSignal): Promise<readonly FoundRecord[]> {
    return this.#stored({ publisherId: undefined, messageChainId: undefined }, count, signal)
  }

  async #stored(
    chain: { readonly publisherId: NodeId | undefined; readonly messageChainId: string | undefined },
    count: number,
    signal: AbortSignal,
  ): Promise<readonly FoundRecord[]> {
    const { history } = this.#modules
    const found: FoundRecord[] = []
    try {
      const plan = await history.plan(this.#stream, [keyPartition], signal)
      const wanted = { ...chain, selection: { kind: 'last', count } as const }
      for await (const run of history.read(plan, wanted, { signal, onGap: () => {} }))
        for (const { publisherId, messageChainId, content } of run) {
          const record = decoded(content)
          if (record !== undefined) found.push({ publisherId, messageChainId, record })
        }
    } catch (error) {
      // No storage node, or none that answers: then there is what was seen.
      if (signal.aborted || !isRunnelError(error)) throw error
    }
    return found.reverse()
  }

  #keep(found: FoundRecord): void {
    this.#recent.set(`${found.publisherId} ${found.messageChainId}`, found)
  }
}

/** Undefined for what is none, and for kinds of later versions. */
function decoded(content: Uint8Array): KeyRecord | undefined {
  if (content.length > limits.maxKeyRecordBytes) return undefined
  try {
    return decodeKeyRecord(content)
  } catch {
    return undefined
  }
}
