import { limits, protocolError, Reader, Writer } from '@runnel/protocol'
import type { MessageHeaders } from '../content/headers.ts'

/** What a message of a recording says of itself. */
export const recordingHeaders: MessageHeaders = { recording: 'batches/1' }

export const isRecording = (headers: MessageHeaders): boolean =>
  headers['recording'] === recordingHeaders['recording']

/** Of urgent messages: what they were signed in, byte for byte, and the delegations that this needs, encoded. */
export interface RecordedBatches {
  readonly delegations: readonly Uint8Array[]
  readonly batches: readonly Uint8Array[]
}

/** Batches, and delegations, in one message of a recording. */
const maxRecordedItems = 4_096

const writer = new Writer()

export function encodeRecorded({ delegations, batches }: RecordedBatches): Uint8Array {
  writer.reset()
  for (const items of [delegations, batches]) {
    writer.count(items.length, maxRecordedItems, 'recorded items')
    for (const bytes of items) {
      writer.varint(bytes.length)
      writer.raw(bytes)
    }
  }
  return writer.view().slice()
}

/** Nothing of it is checked but that it can be read. Throws MALFORMED_PACKET and LIMIT_EXCEEDED. */
export function decodeRecorded(content: Uint8Array): RecordedBatches {
  const reader = new Reader(content)
  const items = (maxBytes: number): Uint8Array[] =>
    Array.from({ length: reader.count(maxRecordedItems, 'recorded items') }, () =>
      reader.view(reader.count(maxBytes, 'recorded bytes')),
    )
  const [delegations, batches] = [items(limits.maxDelegationBytes), items(limits.maxUrgentBatchBytes)]
  if (reader.remaining > 0) throw protocolError('MALFORMED_PACKET', 'more than a recording')
  return { delegations, batches }
}
