import { nodeCiphers as ciphers } from '../ciphers/node-ciphers.ts'
import { nodeIdToBytes } from '../ids/node-id.ts'
import { keyPartition, toStreamId } from '../ids/stream-id.ts'
import { toHex, toPlainJson } from '../messages/plain-json.testkit.ts'
import { pattern } from '../messages/samples.testkit.ts'
import type { Crypto } from '../ports.ts'
import { encodeCard } from './card.ts'
import { deriveKey } from './derive-key.ts'
import { cohortIdOf, commitmentOf, epochIdOf, publisherKeyOf, wrapKey } from './epoch-keys.ts'
import { sealWith } from './hpke.testkit.ts'
import {
  answerChain,
  cohortChain,
  epochChain,
  groupOf,
  linkChain,
  newestChain,
  publishersChain,
  publisherTag,
  readerHint,
  readerTag,
  requestChain,
} from './key-chains.ts'
import { encodeKeyRecord, encodeLinkSecret } from './key-record-codec.ts'
import type { KeyRecord, WrappedFor } from './key-records.ts'
import { sealedVectors } from './sealed.testkit.ts'
import { dateMs, drawn, userOf, type User } from './users.testkit.ts'

const ascii = (text: string): Uint8Array => new TextEncoder().encode(text)

/** One stream with an opener, three readers, and a publisher that may not read: every key, record and seal of it. */
export async function encryptionVectors(crypto: Crypto) {
  const opener = userOf(crypto, 'opener', 1, 0)
  const readers = [
    userOf(crypto, 'reader A', 2, 0),
    userOf(crypto, 'reader B', 8, 7),
    userOf(crypto, 'reader C, whose reading key comes from its private key', 4, 0xffffffff, true),
  ]
  const publisher = userOf(crypto, 'publisher that may not read', 5, 0)
  const openerId = opener.identity.nodeId
  const streamId = toStreamId(`${openerId}/sensors/oulu`)

  const keyring = deriveKey(ciphers, opener.readingKey, 'keyring', ascii(streamId))
  const keyringId = deriveKey(ciphers, keyring, 'keyring id').slice(0, 16)
  const [epochKey, earlierKey, thirdKey] = [drawn(0xe1), drawn(0xe0), drawn(0xdf)]
  const commitment = commitmentOf(ciphers, epochKey)
  const publisherKey = publisherKeyOf(ciphers, epochKey, publisher.identity.nodeId)

  const secretOf = ({ identity, cardHash }: User): Uint8Array =>
    deriveKey(ciphers, keyring, 'link', nodeIdToBytes(identity.nodeId), cardHash)
  const tagOf = ({ identity, cardHash }: User): Uint8Array => readerTag(ciphers, identity.nodeId, cardHash)
  const wrapped = (users: readonly User[], wrap: (secret: Uint8Array) => Uint8Array): WrappedFor[] =>
    users.map((user) => ({ tag: tagOf(user), wrapped: wrap(secretOf(user)) }))

  const linkTo = async (user: User, isForReader: boolean, hasKey = true) => {
    const { nodeId } = user.identity
    const key = isForReader ? epochKey : publisherKey
    const epochId = commitment.slice(0, 6)
    const secret = { secret: secretOf(user), epochId, key: hasKey ? key : undefined, isForReader }
    const plaintext = encodeLinkSecret(secret)
    const chain = linkChain(ciphers, keyringId, nodeId)
    const to = { hint: readerHint(ciphers, nodeId), tag: tagOf(user) }
    const parts = [nodeIdToBytes(openerId), nodeIdToBytes(nodeId), to.tag, ascii(chain), ascii(streamId)]
    const info = joined(ascii('runnel link\0'), ...parts)
    const seed = pattern(64)
    const sealed = await sealWith(seed, user.card.publicKey, info, plaintext)
    const name = `link to ${user.name}${hasKey ? '' : ', without a key'}`
    return {
      ...recordVector(name, chain, { kind: 'link', ...to, ...sealed }),
      ...{ to: user.name, linkSecret: secretOf(user), info, plaintext, encapsulationSeed: seed },
    }
  }

  const answerTo = async (user: User, keys: readonly Uint8Array[]) => {
    const { nodeId } = user.identity
    const parts = [nodeIdToBytes(nodeId), user.cardHash, ascii(streamId)]
    const info = joined(ascii('runnel answer\0'), ...parts)
    const plaintext = joined(...keys)
    const seed = pattern(64).reverse()
    const sealed = await sealWith(seed, user.card.publicKey, info, plaintext)
    const to = { readerId: nodeId, cardHash: user.cardHash }
    const record = { kind: 'answer' as const, ...to, ...sealed }
    return {
      ...recordVector(`answer to ${user.name}`, answerChain(ciphers, nodeId), record),
      ...{ to: user.name, info, plaintext, encapsulationSeed: seed },
    }
  }

  const idBytes = (key: Uint8Array): Uint8Array => commitmentOf(ciphers, key).slice(0, 6)
  const epochOf = (of: Partial<Extract<KeyRecord, { kind: 'epoch' }>>) => {
    const own = wrapKey(ciphers, keyring, 'own epoch', commitment, epochKey)
    const dates = { createdMs: dateMs + 2000, readersAtBlock: dateMs + 1000 }
    return {
      ...{ kind: 'epoch' as const, keyringId, commitment, ...dates, own, readers: [], cohorts: [] },
      ...{ publisherRecords: 0, earlier: [], ...of },
    }
  }
  const earlier = [earlierKey, thirdKey].map((key) => ({
    id: idBytes(key),
    wrapped: wrapKey(ciphers, epochKey, 'earlier epoch', idBytes(key), key),
  }))
  const direct = wrapped(readers, (secret) => wrapKey(ciphers, secret, 'wrapped epoch', commitment, epochKey))

  const groups = Array.from({ length: 4 }, (_, group) =>
    readers.filter(({ identity }) => groupOf(ciphers, identity.nodeId, 4) === group),
  )
  const cohorts = groups.map((members, i) => {
    const key = drawn(0xc0 + i)
    const cohortId = cohortIdOf(ciphers, key)
    return { key, cohortId, members, wrapped: wrapKey(ciphers, key, 'wrapped epoch', commitment, epochKey) }
  })
  const none = { cohortId: new Uint8Array(8), wrapped: new Uint8Array(32) }
  const inCohorts = {
    cohorts: cohorts.map(({ members, cohortId, wrapped }) =>
      members.length > 0 ? { cohortId, wrapped } : none,
    ),
    publisherRecords: 1,
  }
  const cohortRecords = cohorts
    .filter(({ members }) => members.length > 0)
    .map(({ key, cohortId, members }) => {
      const keys = wrapped(members, (secret) => wrapKey(ciphers, secret, 'wrapped cohort', cohortId, key))
      const record = { kind: 'cohort' as const, keyringId, readers: keys }
      return { ...recordVector('cohort', cohortChain(cohortId), record), cohortKey: key, cohortId }
    })
  const publishers = [
    {
      tag: publisherTag(ciphers, publisher.identity.nodeId, publisherKey),
      wrapped: wrapKey(ciphers, secretOf(publisher), 'wrapped publisher', commitment, publisherKey),
    },
  ]

  const links = await Promise.all(readers.map((reader) => linkTo(reader, true)))
  const chain = epochChain(epochIdOf(commitment))
  const records = [
    ...links,
    await linkTo(publisher, false),
    await linkTo(readers[0] ?? opener, true, false),
    recordVector('epoch for three readers', chain, epochOf({ readers: direct, earlier })),
    recordVector('epoch for four cohorts', chain, epochOf(inCohorts)),
    recordVector('epoch for nobody', chain, epochOf({})),
    ...cohortRecords,
    recordVector('publishers', publishersChain(commitment, 0), {
      ...{ kind: 'publishers', keyringId, commitment, publishers },
    }),
    recordVector('newest', newestChain, { kind: 'newest', keyringId, commitment }),
    recordVector('request for whatever is used now', requestChain, {
      ...{ kind: 'request', card: encodeCard(publisher.card), wanted: [] },
    }),
    recordVector('request for two epochs', requestChain, {
      ...{ kind: 'request', card: encodeCard((readers[0] ?? opener).card) },
      wanted: earlier.map(({ id }) => id),
    }),
    await answerTo(readers[0] ?? opener, [epochKey, earlierKey, thirdKey]),
  ]
  return toPlainJson({
    ...{ streamId, partition: keyPartition, openerId, keyring, keyringId },
    users: [opener, ...readers, publisher].map((user) => {
      const { identity, card, ...said } = user
      const userId = identity.nodeId
      const groups = [2, 4, 1024, 4096].map((count) => ({ count, group: groupOf(ciphers, userId, count) }))
      const ofCard = { publicKey: card.publicKey, card: encodeCard(card), tag: tagOf(user) }
      return { ...said, userId, ...ofCard, groups }
    }),
    epochs: [epochKey, earlierKey, thirdKey].map((key) => ({
      ...{
        epochKey: key,
        commitment: commitmentOf(ciphers, key),
        epochId: epochIdOf(commitmentOf(ciphers, key)),
      },
      publisherKeys: [opener, publisher].map(({ identity: { nodeId } }) => ({
        publisherId: nodeId,
        publisherKey: publisherKeyOf(ciphers, key, nodeId),
      })),
    })),
    records,
    unopenedSeals: unopenedSeals(readers, links),
    ...sealedVectors(crypto, { publisher: opener.identity, streamId, epochKey }),
    refusedRecords: refusedRecords(encodeKeyRecord(epochOf({ readers: direct, earlier }))),
  })
}

function recordVector<R extends KeyRecord>(name: string, chain: string, record: R) {
  return { name, chain, record, bytes: encodeKeyRecord(record) }
}

interface SealedRecord {
  readonly record: { readonly encapsulated: Uint8Array; readonly sealed: Uint8Array }
  readonly info: Uint8Array
}

/** Seals of HPKE that do not open with this key and info. */
function unopenedSeals([a, b]: readonly User[], [toA]: readonly SealedRecord[]) {
  if (a === undefined || b === undefined || toA === undefined) throw new Error('too few readers')
  const { info, record } = toA
  const { encapsulated, sealed } = record
  const good = { privateKey: a.cardPrivateKey, info, encapsulated, sealed }
  const changed = (bytes: Uint8Array): Uint8Array => bytes.with(-1, (bytes.at(-1) ?? 0) ^ 1)
  return [
    { name: "another reader's key", ...good, privateKey: b.cardPrivateKey },
    { name: 'another stream', ...good, info: changed(info) },
    { name: 'another encapsulated secret', ...good, encapsulated: changed(encapsulated) },
    { name: 'another tag', ...good, sealed: changed(sealed) },
  ]
}

/** Bytes that are no record. */
function refusedRecords(epoch: Uint8Array) {
  const oneCohort = joined(
    Uint8Array.of(2),
    new Uint8Array(16 + 32 + 6 + 6 + 32),
    Uint8Array.of(0, 1),
    new Uint8Array(42),
  )
  return [
    { name: 'nothing', bytes: new Uint8Array(0), code: 'MALFORMED_PACKET' },
    { name: 'a kind of a later version', bytes: Uint8Array.of(8), code: 'UNSUPPORTED_VERSION' },
    { name: 'an epoch that is cut off', bytes: epoch.slice(0, -1), code: 'MALFORMED_PACKET' },
    {
      name: 'an epoch with a byte too many',
      bytes: joined(epoch, Uint8Array.of(0)),
      code: 'MALFORMED_PACKET',
    },
    { name: 'an epoch of one cohort', bytes: oneCohort, code: 'MALFORMED_PACKET' },
    {
      name: 'a cohort of 1,025 readers',
      bytes: joined(Uint8Array.of(3), new Uint8Array(16), Uint8Array.of(0x81, 0x08)),
      code: 'LIMIT_EXCEEDED',
    },
  ].map(({ name, bytes, code }) => ({ name, hex: toHex(bytes), code }))
}

export function joined(...parts: readonly Uint8Array[]): Uint8Array {
  return Uint8Array.from(parts.flatMap((part) => [...part]))
}
