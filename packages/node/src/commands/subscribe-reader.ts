import type { ReaderStart, RunnelClient } from '@runnel/client'
import type { Output } from '../cli/output.ts'
import { notice } from '../cli/output.ts'
import { nodeError } from '../errors.ts'
import { formatMessage } from './format-message.ts'
import { parsePlace } from './resend-options.ts'

export interface ReadDurably {
  readonly name: string
  readonly group: boolean
  /** Where it begins the first time. */
  readonly start: ReaderStart
  readonly raw: boolean
  readonly meta: boolean
  readonly count: number | undefined
  /** End after this time. */
  readonly durationMs: number | undefined
  readonly signal: AbortSignal
}

/** Prints the messages of a durable reader: each is acknowledged when it is written. Gives how many were printed. */
export async function readDurably(
  client: RunnelClient,
  streamId: string,
  { name, group, start, raw, meta, count, durationMs, signal }: ReadDurably,
  output: Output,
): Promise<number> {
  const ending =
    durationMs === undefined ? signal : AbortSignal.any([signal, AbortSignal.timeout(durationMs)])
  await using reader = await client
    .reader(streamId, { name, group, start, raw, signal: ending })
    .catch((error: unknown) => {
      if (!ending.aborted) throw error
      return undefined
    })
  if (reader === undefined) return 0
  notice(`reading ${streamId} as ${name}`)
  void output.closed.then(() => reader.close())
  let printed = 0
  for await (const message of reader) {
    const isBytes = raw && message.content instanceof Uint8Array
    const bytes = isBytes ? message.content : formatMessage(message, meta)
    if (!(await output.write(bytes))) break
    message.ack()
    if (++printed === count) break
  }
  return printed
}

/** `first`, `new` or a time, as `--from` takes it. Throws USAGE. */
export function readerStart(text: string): ReaderStart {
  if (text === 'first' || text === 'new') return text
  return { from: parsePlace(text, 'first', '--start') }
}

/** Throws USAGE where an option goes with a reader only, or with everything else only. */
export function requireReaderOptions(
  reader: string | undefined,
  { group, start, others }: { group: boolean; start: string | undefined; others: readonly unknown[] },
): void {
  if (reader === undefined && (group || start !== undefined))
    throw nodeError('USAGE', '--group and --start need --reader NAME')
  if (reader !== undefined && others.some((other) => other !== undefined))
    throw nodeError(
      'USAGE',
      '--last, --from, --partition and --urgent cannot be used with --reader, which continues where it was',
    )
}
