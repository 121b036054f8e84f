import type {
  ClientConfig,
  ClientStatus,
  Eip1193Provider,
  NetworkSource,
  PhaseTimes,
  RunnelClient,
} from '@runnel/client/browser'
import { object, type Decode } from '../api/decode.ts'
import { Failure } from '../api/failure.ts'
import { fetchJson } from '../api/fetch-json.ts'
import type { ActsAs } from './acts-as.ts'
import { hearMessages, showStored, type Hearing } from './hear-messages.ts'
import { LiveLog } from './live-log.ts'
import { troublesAfter, worstOf, type Troubles } from './live-news.ts'
import { codeOf, liveSentence } from './live-sentences.ts'
import { loadPart } from './load-part.ts'

/** How this page takes part in a stream part. */
export interface MembershipState {
  readonly nodeId: string | undefined
  /** In whose name. */
  readonly userId: string | undefined
  readonly neighbours: readonly string[]
  readonly received: number
  readonly published: number
  /** Whether the user may publish; undefined until that is known. */
  readonly mayPublish: boolean | undefined
  /** What keeps the page from taking part, as a sentence. */
  readonly trouble: string | undefined
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
  #mayPublish: boolean | undefined
  #troubles: Troubles = {}
  #loadedMs: number | undefined

  constructor(onChange: () => void) {
    this.#onChange = onChange
  }

  state(): MembershipState {
    return {
      nodeId: this.#client?.nodeId,
      userId: this.#client?.userId,
      neighbours: this.#neighbours,
      received: this.log.received,
      published: this.#published,
      mayPublish: this.#mayPublish,
      trouble: worstOf(this.#troubles),
      log: this.log,
      loadedMs: this.#loadedMs,
      phases: this.#client?.phases ?? {},
    }
  }

  /**
   * Joins the network of the tracker at `base` in a user's name, and subscribes. Keys and what a wallet signs stay in memory. Throws
   * Failure, what the client throws, or an error with the code ENCRYPTED_STREAM or PAGE_INCOMPLETE.
   */
  async join(base: string, partId: string, as: ActsAs): Promise<void> {
    const { signal } = this.#stop
    const [{ createClient, memoryStore }, network] = await Promise.all([
      loadPart(import('@runnel/client/browser')),
      readNetwork(base, signal),
    ])
    this.#loadedMs = performance.now() - this.#startedMs
    const { streamId } = splitId(partId)
    // Whatever else the tracker serves reads what this origin keeps.
    const client = await createClient(configOf(network, as, streamId), { sessions: memoryStore() })
    if (signal.aborted) return void client.close()
    this.#client = client
    void this.#follow(client, partId)
    await hearMessages(client, this.#hearing(partId)).catch(async (error: unknown) => {
      throw (await isClosedBy(error, client, streamId)) ? encryptedStream() : error
    })
    const { publishUntilMs } = await client.permissionsOf(streamId, client.userId)
    this.#mayPublish = publishUntilMs > Date.now()
    this.#onChange()
  }

  /** Shows the newest stored messages; resolves with how many there are. Throws what the client throws. */
  async readStored(partId: string): Promise<number> {
    if (this.#client === undefined) return 0
    return showStored(this.#client, this.#hearing(partId), this.#stop.signal)
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

  #hearing(partId: string): Hearing {
    return { ...splitId(partId), log: this.log, onChange: this.#onChange }
  }

  async #follow(client: RunnelClient, partId: string): Promise<void> {
    for await (const status of client.status()) {
      const before = this.#troubles
      this.#troubles = troublesAfter(status, before, partId)
      const isNews = worstOf(this.#troubles) !== worstOf(before)
      if (status.type === 'neighbours' && status.streamPartId === partId) this.#neighbours = status.neighbours
      else if (status.type === 'undecodable' && status.streamPartId === partId) this.#noteUnread(status)
      else if (status.type !== 'phase' && !isNews) continue
      this.#onChange()
    }
  }

  #noteUnread({ ref, error, ...status }: Extract<ClientStatus, { type: 'undecodable' }>): void {
    this.log.unread({ ...status, ...ref }, liveSentence(error))
  }
}

function configOf(network: NetworkSource, as: ActsAs, streamId: string): ClientConfig {
  if (as.kind === 'nobody') return { network }
  if (as.kind === 'files') return { network, ...as.user }
  const { ethereum } = globalThis as { ethereum?: Eip1193Provider }
  if (ethereum === undefined) throw Object.assign(new Error('no wallet'), { code: 'NO_WALLET' })
  return { network, wallet: ethereum, delegationRequest: { streams: [streamId] } }
}

/** Whether the user may not read the stream, and could not without its keys either. */
async function isClosedBy(error: unknown, client: RunnelClient, streamId: string): Promise<boolean> {
  if (codeOf(error) !== 'NO_SUBSCRIBE_PERMISSION') return false
  const { metadata } = await client.getStream(streamId)
  return !isInTheClear(metadata)
}

/** Whether its owner wants a stream that not everybody may read in the clear. */
function isInTheClear(metadata: string): boolean {
  try {
    const { encryption } = (JSON.parse(metadata) ?? {}) as { encryption?: { content?: unknown } | null }
    return encryption?.content === 'never'
  } catch {
    return false
  }
}

function encryptedStream(): Error {
  return Object.assign(new Error('an encrypted stream'), { code: 'ENCRYPTED_STREAM' })
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
