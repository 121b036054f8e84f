import { isUtf8 } from 'node:buffer'
import type { MessageHeaders, RunnelClient, UrgentDrops } from '@runnel/client'
import { isRunnelError, limits, toStreamPartId, type RunnelError, type StreamId } from '@runnel/protocol'
import type { Line } from '../cli/read-lines.ts'
import { nodeError } from '../errors.ts'
import { writtenContent } from '../written-content.ts'
import type { UrgentWay } from './urgent-way.ts'

/** A line may hold some white space beside the largest content. */
export const maxLineBytes = 2 * limits.maxContentBytes

/** Messages handed to the client and not yet out: enough to share a signature, few enough to stop soon after an error. */
const maxInFlight = limits.maxBatchMessages

/** How long after messages published alone somebody who joined at the same time may still come. */
const joiningMs = 1_000

export interface PublishLinesOptions {
  readonly streamId: StreamId
  /** What errors call a line: it may be an argument of the command. */
  readonly unit: 'line' | 'message'
  /** Lines are text; otherwise each is a JSON value. */
  readonly text: boolean
  /** Name of the field whose value chooses the partition. */
  readonly partitionKey: string | undefined
  /** Of each message. */
  readonly key?: string | undefined
  /** Name of the field whose value is the key of the message. */
  readonly keyField?: string | undefined
  /** Beside each message. */
  readonly headers?: MessageHeaders | undefined
  /** Of urgent messages, which nobody who joins later gets. */
  readonly way?: Pick<UrgentWay, 'urgent' | 'open' | 'close'> | undefined
  /** Report bad lines and go on; otherwise the first ends the work. */
  readonly skipInvalid: boolean
  readonly signal: AbortSignal
  onInvalid(error: RunnelError): void
}

export interface PublishedLines {
  readonly published: number
  readonly skipped: number
  /** Published lines that had no neighbour to go to, nor soon afterwards. */
  readonly alone: number
  /** Of urgent messages: what of them this process dropped. */
  readonly dropped?: UrgentDrops
}

/** Publishes each line. At the first bad one everything before it is published, then this throws INPUT_INVALID, unless bad lines are skipped. */
export async function publishLines(
  client: Pick<RunnelClient, 'publish' | 'network'>,
  lines: AsyncIterable<Line>,
  options: PublishLinesOptions,
): Promise<PublishedLines> {
  const inFlight = new Set<Promise<void>>()
  let published = 0
  let skipped = 0
  /** By partition. */
  const alone = new Map<number, number>()
  let failure: unknown
  const fail = (error: unknown) => {
    if (options.skipInvalid && isRunnelError(error, 'INPUT_INVALID')) {
      skipped++
      options.onInvalid(error)
    } else failure ??= error
  }
  const { way, headers } = options
  const send = async (line: Line) => {
    const { content, ...more } = contentOf(line, options)
    await way?.open(more.partitionKey)
    const sent: Promise<void> = client
      .publish(options.streamId, content, { ...more, headers, urgent: way?.urgent })
      .then(
        ({ neighbours, partition }) => {
          published++
          if (neighbours === 0) alone.set(partition, (alone.get(partition) ?? 0) + 1)
        },
        (error: unknown) => fail(isTooLarge(error) ? lineError(line, options, error.message, error) : error),
      )
      .finally(() => inFlight.delete(sent))
    inFlight.add(sent)
  }
  for await (const line of lines) {
    if (options.signal.aborted) break
    try {
      if (line.text?.trim() !== '') await send(line)
    } catch (error) {
      fail(error)
    }
    if (inFlight.size >= maxInFlight) await Promise.race(inFlight)
    if (failure !== undefined) break
  }
  await Promise.all(inFlight)
  const dropped = await way?.close(published)
  if (failure !== undefined) throw failure
  if (dropped !== undefined) return { published, skipped, alone: sumOf(alone.values()), dropped }
  return { published, skipped, alone: await stillAlone(alone, client, options.streamId) }
}

const sumOf = (counts: Iterable<number>): number => [...counts].reduce((sum, count) => sum + count, 0)

/** How many lines went to nobody, also when those had come who were just joining, such as a storage node that was assigned a moment ago. */
async function stillAlone(
  alone: ReadonlyMap<number, number>,
  { network }: Pick<RunnelClient, 'network'>,
  streamId: StreamId,
): Promise<number> {
  const signal = AbortSignal.timeout(joiningMs)
  const counts = await Promise.all(
    [...alone].map(([partition, count]) =>
      network.waitForNeighbours(toStreamPartId(streamId, partition), { signal }).then(
        () => 0,
        () => count,
      ),
    ),
  )
  return sumOf(counts)
}

function contentOf(line: Line, options: PublishLinesOptions) {
  const { partitionKey, keyField, key } = options
  const { bytes, text } = line
  if (bytes === undefined || text === undefined)
    throw lineError(line, options, `longer than ${maxLineBytes} bytes`)
  if (!isUtf8(bytes)) throw lineError(line, options, 'not UTF-8')
  if (options.text) return { content: text, partitionKey: undefined, key }
  const value = parseJson(line, options, text)
  return {
    ...writtenContent(bytes, value),
    partitionKey:
      partitionKey === undefined
        ? undefined
        : fieldOf(line, options, value, partitionKey, 'to choose a partition by'),
    key: keyField === undefined ? key : fieldOf(line, options, value, keyField, 'to be the key'),
  }
}

function parseJson(line: Line, options: PublishLinesOptions, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw lineError(line, options, `not JSON: ${(cause as Error).message}`, cause)
  }
}

function fieldOf(
  line: Line,
  options: PublishLinesOptions,
  content: unknown,
  field: string,
  purpose: string,
): string {
  const fields = typeof content === 'object' && content !== null ? (content as Record<string, unknown>) : {}
  const value = Object.hasOwn(fields, field) ? fields[field] : undefined
  if (typeof value !== 'string' && typeof value !== 'number') {
    throw lineError(line, options, `no text or number in the field "${field}" ${purpose}`)
  }
  return String(value)
}

function isTooLarge(error: unknown): error is RunnelError {
  return isRunnelError(error, 'MESSAGE_TOO_LARGE') || isRunnelError(error, 'LIMIT_EXCEEDED')
}

function lineError(line: Line, { unit }: PublishLinesOptions, what: string, cause?: unknown): RunnelError {
  return nodeError('INPUT_INVALID', `${unit} ${line.number}: ${what}`, { cause })
}
