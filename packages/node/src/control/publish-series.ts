import { setTimeout as delay } from 'node:timers/promises'
import type { RunnelClient } from '@runnel/client'
import { parseStreamPartId, type StreamPartId } from '@runnel/protocol'

export const seriesLimits = {
  /** Messages in one series. */
  maxMessages: 100_000,
  /** Time between two messages. */
  maxIntervalMs: 3_600_000,
  /** Smallest content of a message: a number has to fit. */
  minBytes: 4,
  /** Largest content of a message. */
  maxBytes: 65_536,
} as const

/** So many messages of so many bytes, at an interval. */
export interface Series {
  readonly streamPartId: StreamPartId
  readonly messages: number
  readonly intervalMs: number
  /** Of the content of each. */
  readonly bytes: number
}

export interface SeriesModules {
  readonly client: Pick<RunnelClient, 'publish'>
  readonly signal: AbortSignal
  readonly onPublished: () => void
}

/** Publishes a series; `first` settles with the first message, `done` with the last. An abort ends it early. */
export function publishSeries(
  series: Series,
  modules: SeriesModules,
): { readonly first: Promise<void>; readonly done: Promise<void> } {
  const first = publishOne(series, 0, modules)
  return { first, done: first.then(() => publishRest(series, modules)) }
}

async function publishRest(series: Series, modules: SeriesModules): Promise<void> {
  const { messages, intervalMs } = series
  let dueMs = performance.now()
  for (let number = 1; number < messages && !modules.signal.aborted; number++) {
    // After a stall it goes on from now, rather than making up for it in a burst.
    dueMs = Math.max(dueMs + intervalMs, performance.now())
    await delay(dueMs - performance.now(), undefined, { signal: modules.signal }).catch(() => {})
    if (!modules.signal.aborted) await publishOne(series, number, modules)
  }
}

async function publishOne(
  { streamPartId, bytes }: Series,
  number: number,
  { client, onPublished }: SeriesModules,
): Promise<void> {
  const { streamId, partition } = parseStreamPartId(streamPartId)
  const content = Buffer.alloc(bytes)
  content.writeUInt32BE(number)
  await client.publish(streamId, new Uint8Array(content), { partition })
  onPublished()
}
