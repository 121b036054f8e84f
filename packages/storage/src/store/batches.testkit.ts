import {
  buildBatch,
  compareRefs,
  ContentType,
  delegationRef,
  keyTagBytes,
  keyTagExtension,
  loadCrypto,
  nodeIdFromBytes,
  toStreamId,
  toStreamPartId,
  type MessageBatch,
  type MessageChain,
  type MessageRef,
  type NodeId,
  type StreamPartId,
} from '@runnel/protocol'
import type { EncodedDelegations } from './stored-delegations.ts'

const crypto = await loadCrypto()
/** Stores do not look at signatures. */
const unsigned = { sign: () => new Uint8Array(65) }

export const owner = nodeId(1)
export const streamId = toStreamId(`${owner}/stored`)

export function nodeId(number: number): NodeId {
  return nodeIdFromBytes(new Uint8Array(20).fill(number))
}

export function partOf(partition: number): StreamPartId {
  return toStreamPartId(streamId, partition)
}

export function chainOf(messageChainId = 'chain', publisherId = owner, partition = 0): MessageChain {
  return { streamId, partition, publisherId, messageChainId }
}

/** A place; many tests need no more than the time. */
export function at(timestamp: number, sequenceNumber = 0): MessageRef {
  return { timestamp, sequenceNumber }
}

/** A batch of messages at these places, each of `contentBytes` bytes that are `fill`; signed under a delegation if one is given. */
export function batchOf(
  chain: MessageChain,
  places: readonly MessageRef[],
  contentBytes = 20,
  fill = 0,
  delegation?: Uint8Array,
): MessageBatch {
  const messages = places.map((place, index) => ({
    ...place,
    previous: places[index - 1],
    contentType: ContentType.binary,
    encryptionType: 0,
    groupKeyId: '',
    content: new Uint8Array(contentBytes).fill(fill),
  }))
  const ref = delegation && delegationRef(delegation, crypto)
  return buildBatch({ chain, messages }, crypto, { ...unsigned, delegationRef: ref })
}

/** A batch with one message of each key, at these places; a key is a byte, undefined for none. Signed under a delegation if one is given. */
export function keyedBatch(
  chain: MessageChain,
  keys: readonly (number | undefined)[],
  places: readonly MessageRef[],
  fill = 0,
  delegation?: Uint8Array,
): MessageBatch {
  const messages = places.map((place, index) => {
    const key = keys[index]
    return {
      ...place,
      previous: places[index - 1],
      contentType: ContentType.binary,
      encryptionType: 0,
      groupKeyId: '',
      extensions: key === undefined ? undefined : [{ type: keyTagExtension, bytes: tagOf(key) }],
      content: new Uint8Array(20).fill(fill),
    }
  })
  const ref = delegation && delegationRef(delegation, crypto)
  return buildBatch({ chain, messages }, crypto, { ...unsigned, delegationRef: ref })
}

export function tagOf(key: number): Uint8Array {
  return new Uint8Array(keyTagBytes).fill(key)
}

/** As many bytes as a delegation; stores do not read them. */
export function delegationOf(fill: number, length = 300): Uint8Array {
  return new Uint8Array(length).fill(fill)
}

/** By their references. */
export function byRef(...delegations: readonly Uint8Array[]): EncodedDelegations {
  return new Map(delegations.map((bytes) => [delegationRef(bytes, crypto), bytes]))
}

/** What pages are ordered by, for the models stores are compared with. */
export function compareBatches(a: MessageBatch, b: MessageBatch): number {
  const [firstA, firstB] = [a.messages[0], b.messages[0]]
  const [lastA, lastB] = [a.messages.at(-1), b.messages.at(-1)]
  if (!firstA || !firstB || !lastA || !lastB) throw new Error('a batch without messages')
  const texts = ({ publisherId, messageChainId }: MessageChain) => `${publisherId} ${messageChainId}`
  return (
    compareRefs(firstA, firstB) ||
    compareRefs(lastA, lastB) ||
    (texts(a.chain) < texts(b.chain) ? -1 : texts(a.chain) > texts(b.chain) ? 1 : 0)
  )
}
