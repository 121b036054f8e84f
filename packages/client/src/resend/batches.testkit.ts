import {
  buildBatch,
  createIdentity,
  loadCrypto,
  seededRandom,
  toStreamId,
  type Identity,
  type MessageBatch,
  type MessageRef,
  type StreamId,
} from '@runnel/protocol'

export const crypto = await loadCrypto()
export const identityOf = (name: string): Identity =>
  createIdentity(seededRandom(`key of ${name}`).bytes(32), crypto)

export const streamId = toStreamId(`0x${'c'.repeat(40)}/history`)
export const at = (timestamp: number, sequenceNumber = 0): MessageRef => ({ timestamp, sequenceNumber })

export interface ChainOptions {
  readonly publisher?: string
  readonly chainId?: string
  readonly partition?: number
  readonly stream?: StreamId
  /** Messages of one batch. Default 1. */
  readonly perBatch?: number
  readonly contentBytes?: number
  /** What the first message names as the one before it. */
  readonly previous?: MessageRef
}

/** Signed batches of one chain with messages at these times; each text is `chain:time`. */
export function chainOf(times: readonly number[], options: ChainOptions = {}): MessageBatch[] {
  const { publisher = 'alice', chainId = 'a', partition = 0, perBatch = 1, contentBytes = 0 } = options
  const identity = identityOf(publisher)
  const chain = {
    streamId: options.stream ?? streamId,
    partition,
    publisherId: identity.nodeId,
    messageChainId: chainId,
  }
  let previous = options.previous
  const messages = times.map((timestamp) => {
    const text = `${chainId}:${timestamp}`.padEnd(contentBytes, '.')
    const message = {
      ...at(timestamp),
      previous,
      contentType: 2,
      encryptionType: 0,
      groupKeyId: '',
      content: new TextEncoder().encode(text),
    }
    previous = at(timestamp)
    return message
  })
  const batches: MessageBatch[] = []
  for (let i = 0; i < messages.length; i += perBatch) {
    batches.push(buildBatch({ chain, messages: messages.slice(i, i + perBatch) }, crypto, identity))
  }
  return batches
}

/** Times from one to another. */
export const times = (from: number, to: number, step = 1): number[] =>
  Array.from({ length: Math.floor((to - from) / step) + 1 }, (_, i) => from + i * step)

/** In the order in which a storage node sends them. */
export function inOrder(batches: readonly MessageBatch[]): MessageBatch[] {
  return batches.toSorted((a, b) => {
    const [first, second] = [a.messages[0], b.messages[0]]
    if (first === undefined || second === undefined) return 0
    return first.timestamp - second.timestamp || first.sequenceNumber - second.sequenceNumber
  })
}
