import type { HistorySelection, UndecodableMessage } from '@runnel/client'
import { notice, standardOutput } from '../cli/output.ts'
import { listenForStop } from '../cli/stop-signal.ts'
import { streamArgument } from '../cli/stream-argument.ts'
import { withClient } from '../cli/with-client.ts'
import { formatMessage } from './format-message.ts'
import { filterOf, type ResendArguments } from './resend-options.ts'

/** Prints stored messages, or the newest of each key, as they come; a slow reader slows the reading, one that goes away ends it. */
export async function printResend(
  stream: string,
  selection: HistorySelection | 'table',
  args: ResendArguments,
): Promise<void> {
  const streamOf = streamArgument(stream)
  const filter = filterOf(args)
  const { raw = false, meta = false, recording = false } = args
  const stop = listenForStop()
  const output = standardOutput()
  const ending = new AbortController()
  const end = () => ending.abort()
  void stop.stopped.then(end)
  void output.closed.then(end)
  let missing = 0
  let printed = 0
  const leftOut = { count: 0, first: undefined as Error | undefined }
  const onUndecodable = ({ error }: UndecodableMessage) => {
    leftOut.count++
    leftOut.first ??= error
  }
  await withClient(args, {}, async (client) => {
    const options = { raw, signal: ending.signal, onUndecodable }
    const streamId = streamOf(client)
    const messages =
      selection === 'table'
        ? client.table(streamId, { ...options, partitions: filter.partitions })
        : client.resend(streamId, selection, { ...options, ...filter, recording, onGap: () => missing++ })
    try {
      for await (const message of messages) {
        const bytes =
          raw && message.content instanceof Uint8Array ? message.content : formatMessage(message, meta)
        if (!(await output.write(bytes))) break
        printed++
      }
    } catch (error) {
      // That it was asked to end is no failure.
      if (!ending.signal.aborted) throw error
    }
  })
  if (missing > 0) notice(`${missing} gaps: no storage node has the missing messages`)
  stop.release()
  if (leftOut.count > 0)
    notice(`${leftOut.count} ${leftOut.count === 1 ? 'message was' : 'messages were'} left out: unreadable`)
  if (leftOut.first !== undefined && printed === 0) throw leftOut.first
}
