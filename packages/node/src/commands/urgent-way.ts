import { setTimeout as delay } from 'node:timers/promises'
import {
  partitionOfKey,
  type RunnelClient,
  type UrgentDrops,
  type UrgentOptions,
  type UrgentRate,
} from '@runnel/client'
import {
  keyPartition,
  loadCrypto,
  parseStreamPartId,
  type Crypto,
  type StreamId,
  type StreamPartId,
} from '@runnel/protocol'

/** How long a first neighbour may take to come, as for ordinary messages. */
const firstNeighbourMs = 5_000
/** How long the others that the tracker named may take after it: what goes to the first one alone ends there while that has no other neighbours. */
const otherNeighboursMs = 1_000
/** How long what waits for links may leave after the last message. */
const maxLeavingMs = 1_000

export interface UrgentWayOptions {
  readonly streamId: StreamId
  readonly urgent: UrgentOptions
  readonly signal: AbortSignal
}

type UrgentClient = Pick<RunnelClient, 'getStream' | 'prepare' | 'urgentRate' | 'network'>

interface UrgentWayModules {
  readonly client: UrgentClient
  /** Of each partition. */
  readonly rates: readonly UrgentRate[]
  readonly crypto: Crypto
}

/**
 * The way of urgent messages out of a process that has just begun: they wait for nobody, so that the first ones would reach nobody, and the last
 * ones would be lost with the process. Throws STREAM_NOT_FOUND, NO_PUBLISH_PERMISSION, and errors of the registry.
 */
export async function openUrgentWay(client: UrgentClient, options: UrgentWayOptions): Promise<UrgentWay> {
  const { partitions } = await client.getStream(options.streamId)
  const rates = await Promise.all(
    Array.from({ length: partitions }, (_, partition) => client.urgentRate(options.streamId, { partition })),
  )
  return new UrgentWay(options, { client, rates, crypto: await loadCrypto() })
}

export class UrgentWay {
  readonly urgent: UrgentOptions
  readonly #options: UrgentWayOptions
  readonly #modules: UrgentWayModules
  /** Partitions that were waited for; `undefined` for the one that the client chooses. */
  readonly #opened = new Set<number | undefined>()

  constructor(options: UrgentWayOptions, modules: UrgentWayModules) {
    this.urgent = options.urgent
    this.#options = options
    this.#modules = modules
  }

  /** Resolves when the neighbours are there that get what has this partition key, or nobody is; after six seconds at the latest. */
  async open(partitionKey: string | undefined): Promise<void> {
    const { client, rates, crypto } = this.#modules
    const partition =
      partitionKey === undefined ? undefined : partitionOfKey(partitionKey, rates.length, crypto)
    if (this.#opened.has(partition)) return
    this.#opened.add(partition)
    const { streamId } = this.#options
    // Joins the partition, as its first message would.
    await client.prepare(streamId, null, { partition, urgent: this.urgent })
    const joined = client.network.streamParts.filter((id) => {
      const part = parseStreamPartId(id)
      return part.streamId === streamId && part.partition !== keyPartition
    })
    await Promise.all(joined.map((id) => this.#untilNeighbours(id)))
  }

  /** Resolves when nothing waits any more that would still be of use, with what was dropped in this process. */
  async close(published: number): Promise<UrgentDrops> {
    const { rates } = this.#modules
    const leavingMs = Math.min(this.urgent.lifetimeMs ?? maxLeavingMs, maxLeavingMs)
    if (published > 0) await delay(leavingMs, undefined, { signal: this.#options.signal }).catch(() => {})
    for (const rate of rates) rate.close()
    return rates.map(({ drops }) => drops).reduce(sumOf)
  }

  /** Of a stream part: the first, or the tracker says that there is none, and then those that it named with it. */
  async #untilNeighbours(streamPartId: StreamPartId): Promise<void> {
    const { network } = this.#modules.client
    const within = (ms: number): AbortSignal =>
      AbortSignal.any([this.#options.signal, AbortSignal.timeout(ms)])
    try {
      await network.waitForNeighbours(streamPartId, { orAlone: true, signal: within(firstNeighbourMs) })
      const part = network.metrics().streamParts.find((one) => one.streamPartId === streamPartId)
      const count = part?.wantedNeighbours ?? 0
      await network.waitForNeighbours(streamPartId, { count, signal: within(otherNeighboursMs) })
    } catch {
      // They did not come in time.
    }
  }
}

function sumOf(a: UrgentDrops, b: UrgentDrops): UrgentDrops {
  return {
    late: a.late + b.late,
    replaced: a.replaced + b.replaced,
    shed: a.shed + b.shed,
    refused: a.refused + b.refused,
    overShare: a.overShare + b.overShare,
  }
}
