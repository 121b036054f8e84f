import type { NetworkNode } from '@runnel/network'
import {
  decodeBatch,
  decodeDelegation,
  untilAborted,
  urgentMessageOf,
  type MessageBatch,
  type StreamMessage,
} from '@runnel/protocol'
import { LRU } from 'tiny-lru'
import type { ContentSteps } from '../content/content-steps.ts'
import { decodeMessage, reportUndecodable, type Decoding } from '../content/decode.ts'
import type { UndecodableMessage } from '../content/undecodable-message.ts'
import { throwIfAborted } from '../deadline.ts'
import { clientError } from '../errors.ts'
import type { BatchCheck } from '../resend/batch-check.ts'
import type { StatusHub } from '../status.ts'
import type { Message } from '../subscribe/message.ts'
import { recordLimits } from './limits.ts'
import { decodeRecorded, isRecording } from './recording-content.ts'

export interface RecordingReaderModules {
  readonly check: Pick<BatchCheck, 'check'>
  readonly node: Pick<NetworkNode, 'delegations'>
  readonly steps: Pick<ContentSteps, 'open'>
  readonly status: StatusHub
}

interface RecordingReaderOptions extends Decoding {
  readonly onUndecodable?: ((message: UndecodableMessage) => void) | undefined
  readonly signal: AbortSignal
}

/**
 * The urgent messages in a recording, as their publishers signed them: each is checked like one of history, and comes once, however many
 * recorders had it. What else is in the stream is left out. A publisher who has lost the permission since is believed for the time of the
 * recording, which its own signature and storage nodes vouch for. Throws ABORTED, also while a key is waited for.
 */
export async function* readRecording(
  recorded: AsyncIterable<Message>,
  options: RecordingReaderOptions,
  modules: RecordingReaderModules,
): AsyncGenerator<Message, void, undefined> {
  const seen = new LRU<true>(recordLimits.maxSeenMessages)
  for await (const { headers, content, timestamp: recordedMs } of recorded) {
    if (!isRecording(headers) || !(content instanceof Uint8Array)) continue
    for (const batch of batchesIn(content, modules)) {
      const message = urgentMessageOf(batch)?.message
      const key = message && keyOf(message)
      if (message === undefined || key === undefined || seen.has(key)) continue
      try {
        const verdict = await modules.check.check(batch)
        if (verdict === 'forged') throw clientError('BATCH_FORGED', message.publisherId)
        if (verdict === 'denied') throw clientError('NO_PUBLISH_PERMISSION', message.publisherId)
        seen.set(key, true)
        const opening = options.raw === true ? message : modules.steps.open(message)
        const opened = opening instanceof Promise ? await untilAborted(opening, options.signal) : opening
        yield { ...decodeMessage(opened, options, message), recordedMs }
      } catch (error) {
        throwIfAborted(options.signal)
        options.onUndecodable?.(reportUndecodable(message, error, modules.status))
      }
    }
  }
}

/** None of what cannot be read: whoever may publish the recording can publish anything. */
function batchesIn(content: Uint8Array, { node }: RecordingReaderModules): readonly MessageBatch[] {
  try {
    const { delegations, batches } = decodeRecorded(content)
    for (const delegation of delegations) node.delegations.add(decodeDelegation(delegation))
    return batches.flatMap((bytes) => batchIn(bytes) ?? [])
  } catch {
    return []
  }
}

function batchIn(bytes: Uint8Array): MessageBatch | undefined {
  try {
    return decodeBatch(bytes)
  } catch {
    return undefined
  }
}

function keyOf(message: StreamMessage): string {
  const { streamId, partition, publisherId, messageChainId, timestamp, sequenceNumber } = message
  return [streamId, partition, publisherId, messageChainId, timestamp, sequenceNumber].join(' ')
}
