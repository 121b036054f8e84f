import {
  decodeLinkSecret,
  encodeLinkSecret,
  keyBytes,
  nodeIdToBytes,
  type AnswerRecord,
  type LinkRecord,
  type LinkSecret,
  type NodeId,
} from '@runnel/protocol'
import { openSealed, sealTo } from './hpke.ts'
import type { CardKey } from './own-card.ts'

/** To whom something is sealed. */
export interface Recipient {
  readonly userId: NodeId
  readonly cardHash: Uint8Array
  /** Of its card. */
  readonly publicKey: Uint8Array
}

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

export async function sealLink(
  where: { readonly streamId: string; readonly openerId: NodeId; readonly keyringId: Uint8Array },
  to: Recipient,
  secret: LinkSecret,
): Promise<LinkRecord> {
  const head = { keyringId: where.keyringId, readerId: to.userId, cardHash: to.cardHash }
  const info = linkInfo(where.streamId, where.openerId, head)
  return { kind: 'link', ...head, ...(await sealTo(to.publicKey, info, encodeLinkSecret(secret))) }
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

/** The keys of epochs, for one reader. */
export async function sealAnswer(
  streamId: string,
  to: Recipient,
  epochKeys: readonly Uint8Array[],
): Promise<AnswerRecord> {
  const head = { readerId: to.userId, cardHash: to.cardHash }
  const plaintext = Uint8Array.from(epochKeys.flatMap((key) => [...key]))
  return {
    kind: 'answer',
    ...head,
    ...(await sealTo(to.publicKey, answerInfo(streamId, head), plaintext)),
  }
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
