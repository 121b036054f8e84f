import {
  keyBytes,
  nodeIdToBytes,
  type AnswerRecord,
  type LinkRecord,
  type LinkSecret,
  type NodeId,
} from '@runnel/protocol'
import { decodeLinkSecret, encodeLinkSecret } from '@runnel/protocol/key-records'
import { openSealed, sealTo, sealToMany } from './hpke.ts'
import type { Recipient } from './card-holder.ts'
import type { CardKey } from './own-card.ts'

const encoder = new TextEncoder()

/** What HPKE binds a link to, so that it opens nowhere else. */
function linkInfo(
  streamId: string,
  openerId: NodeId,
  { keyringId, readerId, cardHash }: Pick<LinkRecord, 'keyringId' | 'readerId' | 'cardHash'>,
): Uint8Array {
  const label = encoder.encode('runnel link\0')
  const ids = [...nodeIdToBytes(openerId), ...keyringId, ...nodeIdToBytes(readerId), ...cardHash]
  return Uint8Array.of(...label, ...ids, ...encoder.encode(streamId))
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

/** A link for each recipient, undefined for those whose card has no valid key. The more at once, the cheaper each. */
export async function sealLinks(
  from: LinkSource,
  all: readonly { readonly to: Recipient; readonly secret: LinkSecret }[],
): Promise<readonly (LinkRecord | undefined)[]> {
  const heads = all.map(({ to }) => ({
    keyringId: from.keyringId,
    readerId: to.userId,
    cardHash: to.cardHash,
  }))
  const requests = all.map(({ to, secret }, i) => ({
    publicKey: to.publicKey,
    info: linkInfo(from.streamId, from.openerId, heads[i] as (typeof heads)[number]),
    plaintext: encodeLinkSecret(secret),
  }))
  const seals = await sealToMany(requests)
  return seals.map((sealed, i) => {
    const head = heads[i]
    return sealed && head && { kind: 'link' as const, ...head, ...sealed }
  })
}

/** Undefined when none of the keys opens it. */
export async function openLink(
  where: { readonly streamId: string; readonly openerId: NodeId },
  record: LinkRecord,
  keys: readonly CardKey[],
): Promise<LinkSecret | undefined> {
  const info = linkInfo(where.streamId, where.openerId, record)
  const opened = await openWithAny(record, info, keys)
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
