import { setTimeout as delay } from 'node:timers/promises'
import { toStreamId, type MessageRef, type StreamId } from '@runnel/protocol'
import { z } from 'zod'
import { nodeError } from '../../errors.ts'
import type { MeasurementsStatus } from '../../snapshot.ts'
import type { Plugin, PluginContext, PluginDefinition } from '../plugin.ts'
import { createReaders, measurementKinds, type MeasurementKind, type Reader } from './readings.ts'

const schema = z
  .strictObject({
    enabled: z.boolean().default(false).describe("Whether this machine's measurements are published."),
    streams: z
      .strictObject({
        cpu: z.string().optional().describe('Stream for the load of each processor.'),
        memory: z.string().optional().describe('Stream for memory use.'),
        network: z.string().optional().describe('Stream for network counters (Linux).'),
        load: z.string().optional().describe('Stream for load averages.'),
      })
      .prefault({}),
    intervalMs: z
      .int()
      .min(10)
      .max(3_600_000)
      .default(200)
      .describe('Time between two messages of a stream.'),
    autoStart: z
      .boolean()
      .default(true)
      .describe('Whether publishing starts at once, or when the supervisor tells it to.'),
  })
  .prefault({})

type MeasurementsConfig = z.output<typeof schema>

export interface MeasurementsPlugin extends Plugin {
  /** Begins to publish, when `autoStart` was false. Idempotent. */
  begin(): void
  /** Stops publishing and resolves when the last message is out. Idempotent. */
  end(): Promise<void>
  status(): MeasurementsStatus
}

interface Source {
  readonly streamId: StreamId
  readonly read: Reader
  messages: number
  last: MessageRef | undefined
}

/** Publishes this machine's measurements, a stream for each kind that has one configured, and keeps account of what it published. */
export const measurementsPlugin = {
  name: 'measurements',
  schema,
  create: createMeasurementsPlugin,
} as const satisfies PluginDefinition<MeasurementsConfig, MeasurementsPlugin>

function createMeasurementsPlugin(options: MeasurementsConfig): MeasurementsPlugin {
  let sources: readonly Source[] = []
  let context: PluginContext | undefined
  let running: Promise<void> | undefined
  let stopping = new AbortController()

  const begin = () => {
    if (running || !context) return
    stopping = new AbortController()
    running = publishInTurn(sources, options.intervalMs, context, stopping.signal)
  }
  const end = async () => {
    stopping.abort()
    await running
    running = undefined
  }
  return {
    start: async (given) => {
      context = given
      sources = sourcesOf(options)
      if (options.autoStart) begin()
    },
    stop: end,
    begin,
    end,
    status: () => ({
      published: sources.map(({ streamId, messages, last }) => ({ streamId, messages, last })),
    }),
  }
}

function sourcesOf({ streams }: MeasurementsConfig): Source[] {
  const readers = createReaders()
  const kinds = measurementKinds.filter((kind) => streams[kind] !== undefined)
  if (kinds.length === 0) {
    throw nodeError('CONFIG_INVALID', 'measurements.enabled needs at least one of measurements.streams')
  }
  const streamOf = (kind: MeasurementKind) => toStreamId(streams[kind] ?? '')
  return kinds.map((kind) => ({
    streamId: streamOf(kind),
    read: readers[kind],
    messages: 0,
    last: undefined,
  }))
}

/** Spreads the streams evenly over the interval. */
async function publishInTurn(
  sources: readonly Source[],
  intervalMs: number,
  context: PluginContext,
  signal: AbortSignal,
): Promise<void> {
  const stepMs = intervalMs / sources.length
  let dueMs = performance.now()
  for (let step = 0; !signal.aborted; step++) {
    const source = sources[step % sources.length]
    if (source) await publishOne(source, context)
    // After a stall it goes on from now, rather than making up for it in a burst.
    dueMs = Math.max(dueMs + stepMs, performance.now())
    await delay(dueMs - performance.now(), undefined, { signal }).catch(() => {})
  }
}

async function publishOne(source: Source, { client, logger }: PluginContext): Promise<void> {
  try {
    const reading = await source.read()
    if (reading === undefined) return
    const { timestamp, sequenceNumber } = await client.publish(source.streamId, reading)
    source.messages++
    source.last = { timestamp, sequenceNumber }
  } catch (error) {
    logger.warn({ err: error, streamId: source.streamId }, 'a measurement could not be published')
  }
}
