import {
  keyBytes,
  linkChain,
  nodeIdToBytes,
  readerHint,
  readerTag,
  type AnswerRecord,
  type Ciphers,
  type LinkRecord,
  type LinkSecret,
  type NodeId,
} from '@runnel/protocol'
import { decodeLinkSecret, encodeLinkSecret } from '@runnel/protocol/key-records'
import { openSealed, sealTo, sealToMany } from './hpke.ts'
import type { Recipient } from './card-holder.ts'
import type { CardKey } from './own-card.ts'

const encoder = new TextEncoder()

/** A link's place, of which its record says nothing. */
export interface LinkPlace {
  readonly streamId: string
  readonly openerId: NodeId
  readonly readerId: NodeId
  /** `linkChain` of a keyring and the reader. */
  readonly chain: string
}

/** What HPKE binds a link to, so that it opens nowhere else: the chain stands for the keyring, the tag for the reader's card. */
function linkInfo({ streamId, openerId, readerId, chain }: LinkPlace, tag: Uint8Array): Uint8Array {
  const label = encoder.encode('runnel link\0')
  const ids = [...nodeIdToBytes(openerId), ...nodeIdToBytes(readerId), ...tag]
  return Uint8Array.of(...label, ...ids, ...encoder.encode(chain), ...encoder.encode(streamId))
}

function answerInfo(
  streamId: string,
  { readerId, cardHash }: Pick<AnswerRecord, 'readerId' | 'cardHash'>,
): Uint8Array {
  const label = encoder.encode('runnel answer\0')
  return Uint8Array.of(...label, ...nodeIdToBytes(readerId), ...cardHash, ...encoder.encode(streamId))
}

/** Where links are from. */
export interface LinkSource {
  readonly streamId: string
  readonly openerId: NodeId
  readonly keyringId: Uint8Array
}

/** A record and the chain that it belongs in. */
export interface PlacedLink {
  readonly chain: string
  readonly record: LinkRecord
}

/** A link for each recipient, undefined for those whose card has no valid key. The more at once, the cheaper each. */
export async function sealLinks(
  { streamId, openerId, keyringId }: LinkSource,
  all: readonly { readonly to: Recipient; readonly secret: LinkSecret }[],
  ciphers: Ciphers,
): Promise<readonly (PlacedLink | undefined)[]> {
  const heads = all.map(({ to: { userId, cardHash } }) => ({
    chain: linkChain(ciphers, keyringId, userId),
    hint: readerHint(ciphers, userId),
    tag: readerTag(ciphers, userId, cardHash),
  }))
  const requests = all.map(({ to, secret }, i) => {
    const { chain, tag } = heads[i] as (typeof heads)[number]
    const info = linkInfo({ streamId, openerId, readerId: to.userId, chain }, tag)
    return { publicKey: to.publicKey, info, plaintext: encodeLinkSecret(secret) }
  })
  const seals = await sealToMany(requests)
  return seals.map((sealed, i) => {
    const { chain, hint, tag } = heads[i] as (typeof heads)[number]
    return sealed && { chain, record: { kind: 'link' as const, hint, tag, ...sealed } }
  })
}

/** Undefined when none of the keys opens it. */
export async function openLink(
  place: LinkPlace,
  record: LinkRecord,
  keys: readonly CardKey[],
): Promise<LinkSecret | undefined> {
  const opened = await openWithAny(record, linkInfo(place, record.tag), keys)
  return opened === undefined ? undefined : decodeLinkSecret(opened)
}

/** The keys of epochs, for one reader; undefined when its card has no valid key. */
export async function sealAnswer(
  streamId: string,
  to: Recipient,
  epochKeys: readonly Uint8Array[],
): Promise<AnswerRecord | undefined> {
  const head = { readerId: to.userId, cardHash: to.cardHash }
  const plaintext = Uint8Array.from(epochKeys.flatMap((key) => [...key]))
  const sealed = await sealTo(to.publicKey, answerInfo(streamId, head), plaintext)
  return sealed && { kind: 'answer', ...head, ...sealed }
}

/** The keys in an answer; none when it does not open. */
export async function openAnswer(
  streamId: string,
  record: AnswerRecord,
  keys: readonly CardKey[],
): Promise<readonly Uint8Array[]> {
  const opened = (await openWithAny(record, answerInfo(streamId, record), keys)) ?? new Uint8Array(0)
  const count = Math.floor(opened.length / keyBytes)
  return Array.from({ length: count }, (_, i) => opened.slice(i * keyBytes, (i + 1) * keyBytes))
}

async function openWithAny(
  { encapsulated, sealed }: Pick<LinkRecord, 'encapsulated' | 'sealed'>,
  info: Uint8Array,
  keys: readonly CardKey[],
): Promise<Uint8Array | undefined> {
  for (const { privateKey } of keys) {
    const opened = await openSealed(privateKey, info, encapsulated, sealed)
    if (opened !== undefined) return opened
  }
  return undefined
}
