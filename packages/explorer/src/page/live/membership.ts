import type { NetworkSource, PhaseTimes, RunnelClient } from '@runnel/client/browser'
import { object, type Decode } from '../api/decode.ts'
import { Failure } from '../api/failure.ts'
import { fetchJson } from '../api/fetch-json.ts'
import { LiveLog } from './live-log.ts'

/** How this page takes part in a stream part. */
export interface MembershipState {
  readonly nodeId: string | undefined
  readonly neighbours: readonly string[]
  readonly received: number
  readonly published: number
  readonly log: LiveLog
  /** How long it took to load the client; undefined until it is there. */
  readonly loadedMs: number | undefined
  /** And from then on. */
  readonly phases: PhaseTimes
}

/** The network is for the client to check. */
const networkAnswer: Decode<{ kind: unknown }> = (value) => {
  object<{ kind: unknown }>({ kind: (kind) => kind })(value)
  return value as { kind: unknown }
}

/** This page as a node of one overlay: with neighbours, forwarding messages. `onChange` is called when anything has. */
export class Membership {
  readonly log = new LiveLog()
  readonly #onChange: () => void
  readonly #startedMs = performance.now()
  readonly #stop = new AbortController()
  #client: RunnelClient | undefined
  #neighbours: readonly string[] = []
  #published = 0
  #loadedMs: number | undefined

  constructor(onChange: () => void) {
    this.#onChange = onChange
  }

  state(): MembershipState {
    return {
      nodeId: this.#client?.nodeId,
      neighbours: this.#neighbours,
      received: this.log.received,
      published: this.#published,
      log: this.log,
      loadedMs: this.#loadedMs,
      phases: this.#client?.phases ?? {},
    }
  }

  /** Joins the network of the tracker at `base`, and subscribes. Throws Failure, or what the client throws. */
  async join(base: string, partId: string): Promise<void> {
    const { signal } = this.#stop
    const [{ createClient }, network] = await Promise.all([
      import('@runnel/client/browser'),
      readNetwork(base, signal),
    ])
    this.#loadedMs = performance.now() - this.#startedMs
    const client = await createClient({ network })
    if (signal.aborted) return void client.close()
    this.#client = client
    void this.#follow(client, partId)
    const { streamId, partition } = splitId(partId)
    await client.subscribe(streamId, { partitions: [partition] }, (message) => {
      this.log.add(message, Date.now())
      this.#onChange()
    })
    this.#onChange()
  }

  /** Throws what the client throws. */
  async publish(partId: string, content: unknown): Promise<void> {
    const { streamId, partition } = splitId(partId)
    await this.#client?.publish(streamId, content, { partition })
    this.#published++
    this.#onChange()
  }

  /** Idempotent. */
  async leave(): Promise<void> {
    this.#stop.abort()
    await this.#client?.close()
  }

  async #follow(client: RunnelClient, partId: string): Promise<void> {
    for await (const status of client.status()) {
      if (status.type === 'neighbours' && status.streamPartId === partId) this.#neighbours = status.neighbours
      else if (status.type !== 'phase') continue
      this.#onChange()
    }
  }
}

async function readNetwork(base: string, signal: AbortSignal): Promise<NetworkSource> {
  try {
    return (await fetchJson(`${base}/v1/network`, networkAnswer, signal)) as NetworkSource
  } catch (error) {
    if (!(error instanceof Failure) || error.code !== 'NOT_FOUND') throw error
    throw Object.assign(new Error('the network is not told'), { code: 'NETWORK_NOT_TOLD' })
  }
}

function splitId(partId: string): { readonly streamId: string; readonly partition: number } {
  const at = partId.lastIndexOf('#')
  return { streamId: partId.slice(0, at), partition: Number(partId.slice(at + 1)) }
}
