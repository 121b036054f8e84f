import { signatureBytes } from './batch-codec.ts'
import { compareRefs, type MessageBatch, type MessageRef, type StreamMessage } from './stream-message.ts'

/** What one message is in the bytes of its batch: all that its publisher says of it, and what is hashed. */
export function messageBytes(
  batch: Pick<MessageBatch, 'bytes' | 'messageOffsets'>,
  index: number,
): Uint8Array {
  const { bytes, messageOffsets } = batch
  return bytes.subarray(messageOffsets[2 * index], messageOffsets[2 * index + 1])
}

/**
 * Which of two messages that one publisher signed for one place counts, everywhere: that whose bytes (`messageBytes`)
 * are lower, as numbers from the first on, and the shorter one where one is the beginning of the other. False for equal
 * ones. Who decides is the publisher, whatever the rule: it may sign as many as it likes. What matters is that all who
 * meet both come to the same, without asking anybody and without a hash.
 */
export function winsOver(a: Uint8Array, b: Uint8Array): boolean {
  return compareBytes(a, b) < 0
}

/** Two batches of one chain in which the messages of one place differ. If both are signed, their publisher has lied. */
export interface Contradiction {
  /** The first place of which they say different things. */
  readonly place: MessageRef
  /** The batch that counts. */
  readonly winner: MessageBatch
  readonly loser: MessageBatch
}

/**
 * What two batches of the same chain say differently; undefined when nothing. Where that is more than one place, the first
 * decides which batch counts. Both signatures are for the caller to check before anything of it is believed.
 */
export function contradictionOf(a: MessageBatch, b: MessageBatch): Contradiction | undefined {
  let [i, j] = [0, 0]
  while (i < a.messages.length && j < b.messages.length) {
    const place = a.messages[i] as StreamMessage
    const order = compareRefs(place, b.messages[j] as StreamMessage)
    if (order === 0) {
      const { timestamp, sequenceNumber } = place
      const difference = compareBytes(messageBytes(a, i), messageBytes(b, j))
      const at = { timestamp, sequenceNumber }
      if (difference < 0) return { place: at, winner: a, loser: b }
      if (difference > 0) return { place: at, winner: b, loser: a }
    }
    if (order <= 0) i++
    if (order >= 0) j++
  }
  return undefined
}

/**
 * True when two batches have the same signature, which is at the end of their bytes (there may be others before). A
 * signature is good for one content of one publisher only (SEC 1, section 4.1.6): if that of a batch was checked, another
 * batch with the same one is equal to it, or forged.
 */
export function isSameSignature(a: Uint8Array, b: Uint8Array): boolean {
  for (let i = 1; i <= signatureBytes; i++) if (a[a.length - i] !== b[b.length - i]) return false
  return true
}

function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i++) {
    const difference = (a[i] as number) - (b[i] as number)
    if (difference !== 0) return difference
  }
  return a.length - b.length
}
