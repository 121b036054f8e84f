import {
  buildBatch,
  ContentType,
  EncryptionType,
  keyPartition,
  nodeCiphers as ciphers,
  signCard,
  toStreamId,
  type Card,
  type Crypto,
  type KeyRecord,
  type NodeId,
} from '@runnel/protocol'
import { encodeKeyRecord } from '@runnel/protocol/key-records'
import { systemClock as clock, systemRandom as random } from '@runnel/protocol/system'
import { publicKeyOf, sealToMany } from '../../../packages/client/src/encryption/hpke.ts'
import { KnownKeys } from '../../../packages/client/src/encryption/known-keys.ts'
import { Opener } from '../../../packages/client/src/encryption/opener.ts'
import { ReaderSet } from '../../../packages/client/src/encryption/reader-set.ts'
import { cpuUs, percentile, round } from '../statistics.ts'
import { newIdentity } from '../swarm.ts'

/** Bare seals that are made to compare with. */
const bareSeals = 500
const unsigned = { sign: () => new Uint8Array(65) }
const rights = { publishUntilMs: 0, subscribeUntilMs: Infinity, edit: false, delete: false, grant: false }

/**
 * What it costs to open a stream's first epoch for so many readers with cards, and to take some of them away, one after the other. Beside
 * it what HPKE alone takes for as many; in the clear all of this is nothing.
 */
export async function readerCosts(crypto: Crypto, { readers, rounds }: { readers: number; rounds: number }) {
  const cards = await cardsFor(crypto, readers)
  const users = [...cards.keys()]
  const permitted = new Set(users)
  const records = new CountedRecords(crypto)
  const readerSet = new ReaderSet(
    { streamId: records.streamId },
    {
      clock,
      list: () =>
        Promise.resolve({ entries: users.map((user) => ({ user, ...rights })), block: 0, lossBlock: 0 }),
      permissionsOf: (_, user) =>
        Promise.resolve({ ...rights, subscribeUntilMs: permitted.has(user) ? Infinity : 0 }),
    },
  )
  const { signal } = new AbortController()
  const master = random.bytes(32)
  const opener = new Opener(
    { streamId: records.streamId, userId: records.openerId, choice: {} },
    {
      ...{ ciphers, crypto, clock, random, readers: readerSet, keyPart: records },
      known: new KnownKeys({ ciphers }),
      finder: { open: () => Promise.resolve(undefined), writerKey: () => Promise.resolve(undefined) },
      askHolder: async () => {},
      keyringMaster: () => Promise.resolve(master),
      cardsOf: () => Promise.resolve(cards),
      onPublished: () => {},
      confirmed: () => Promise.resolve(true),
      onRotated: () => {},
      onProblem: (error) => {
        throw error
      },
      signal,
    },
  )
  const open = async () => {
    await opener.epoch(signal)
    await opener.settled()
  }
  await open()
  const once = records.take()
  const bareCpuMs = (await bareCpuMsOf(cards)) * readers

  const losses: ReturnType<CountedRecords['take']>[] = []
  records.take()
  for (const user of users.slice(0, rounds)) {
    permitted.delete(user)
    readerSet.changed(user)
    await open()
    losses.push(records.take())
  }
  const of = (share: number, value: (one: (typeof losses)[number]) => number) =>
    round(percentile(losses.map(value), share))
  return {
    ratio: round(once.cpuMs / bareCpuMs),
    readers,
    once: { cpuS: round(once.cpuMs / 1000), recordBytes: once.recordBytes, batchBytes: once.batchBytes },
    /** The worst is the first mostly, before its code is compiled. */
    revoked: {
      cpuMs: of(0.5, ({ cpuMs }) => cpuMs),
      worstCpuMs: of(1, ({ cpuMs }) => cpuMs),
      worstBytes: of(1, ({ batchBytes }) => batchBytes),
    },
    hpkeAlone: { cpuS: round(bareCpuMs / 1000) },
  }
}

/** A key part that signs nothing, stores nothing, and counts. */
class CountedRecords {
  readonly openerId: NodeId
  readonly streamId
  readonly #crypto: Crypto
  #sinceUs = cpuUs()
  #recordBytes = 0
  #batchBytes = 0

  constructor(crypto: Crypto) {
    this.#crypto = crypto
    this.openerId = newIdentity(crypto).nodeId
    this.streamId = toStreamId(`${this.openerId}/bench`)
  }

  find(): Promise<undefined> {
    return Promise.resolve(undefined)
  }

  publish(messageChainId: string, record: KeyRecord) {
    const content = encodeKeyRecord(record)
    const chain = {
      streamId: this.streamId,
      partition: keyPartition,
      publisherId: this.openerId,
      messageChainId,
    }
    // As a key part numbers them: that takes up to five bytes.
    const ref = { timestamp: clock.now(), sequenceNumber: Math.floor(random.next() * 2 ** 32) }
    const type = {
      contentType: ContentType.binary,
      encryptionType: EncryptionType.none,
      groupKeyId: '',
      previous: undefined,
    }
    const batch = buildBatch({ chain, messages: [{ ...ref, ...type, content }] }, this.#crypto, unsigned)
    this.#recordBytes += content.length
    this.#batchBytes += batch.bytes.length
    return { ...chain, ...ref }
  }

  /** What there was since the last time. */
  take() {
    const taken = {
      cpuMs: (cpuUs() - this.#sinceUs) / 1000,
      recordBytes: this.#recordBytes,
      batchBytes: this.#batchBytes,
    }
    this.#recordBytes = 0
    this.#batchBytes = 0
    this.#sinceUs = cpuUs()
    return taken
  }
}

async function cardsFor(crypto: Crypto, count: number): Promise<ReadonlyMap<NodeId, Card>> {
  const cards = new Map<NodeId, Card>()
  for (let i = 0; i < count; i++) {
    const identity = newIdentity(crypto)
    const publicKey = await publicKeyOf(random.bytes(32))
    const claim = {
      userId: identity.nodeId,
      publicKey,
      chainId: 0,
      generation: 0,
      dateMs: clock.now(),
      block: 0,
    }
    cards.set(identity.nodeId, signCard(claim, crypto, identity))
  }
  return cards
}

/** Of HPKE alone, for one reader. */
async function bareCpuMsOf(cards: ReadonlyMap<NodeId, Card>): Promise<number> {
  const some = [...cards.values()].slice(0, bareSeals)
  const [info, plaintext] = [random.bytes(120), random.bytes(39)]
  const startUs = cpuUs()
  await sealToMany(some.map(({ publicKey }) => ({ publicKey, info, plaintext })))
  return (cpuUs() - startUs) / 1000 / some.length
}
