import { createClient, type ClientConfig } from '@runnel/client'
import { createIdentity, generatePrivateKey, type Crypto, type NodeId } from '@runnel/protocol'
import { systemClock, systemRandom } from '@runnel/protocol/system'
import { WebSocketTransport } from '@runnel/transport'
import { benchError } from '../errors.ts'
import { percentile, round } from '../statistics.ts'

interface Target {
  readonly nodeId: NodeId
  readonly url: string
}

/** Silent links from one address to a node, each with its own key; closed ones are opened again. */
export class IdleLinks {
  readonly #crypto: Crypto
  readonly #target: Target
  readonly #transports: WebSocketTransport[] = []
  #open = 0

  constructor(target: Target, crypto: Crypto) {
    this.#target = target
    this.#crypto = crypto
  }

  get open(): number {
    return this.#open
  }

  /** Resolves when all have been opened once. */
  async hold(count: number): Promise<void> {
    await Promise.all(Array.from({ length: count }, () => this.#holdOne()))
  }

  async stop(): Promise<void> {
    await Promise.all(this.#transports.splice(0).map((transport) => transport.stop()))
  }

  async #holdOne(): Promise<void> {
    const identity = createIdentity(generatePrivateKey(systemRandom), this.#crypto)
    const transport = new WebSocketTransport(
      { role: 'node' },
      { identity, crypto: this.#crypto, clock: systemClock, random: systemRandom },
    )
    await transport.start()
    this.#transports.push(transport)
    await new Promise<void>((resolve, reject) => this.#dial(transport, resolve, reject))
  }

  #dial(transport: WebSocketTransport, onFirst: () => void, onFail: (error: unknown) => void): void {
    const again = () => {
      if (this.#transports.includes(transport)) this.#dial(transport, onFirst, () => setTimeout(again, 500))
    }
    const { nodeId: peerId, url } = this.#target
    transport.dial({
      ...{ peerId, url, onFail },
      onOpen: (connection) => {
        this.#open++
        const onClose = () => {
          this.#open--
          again()
        }
        connection.events = { onPacket: () => {}, onDrain: () => {}, onClose }
        onFirst()
      },
    })
  }
}

/** How long new clients take to the last message of a stream, from their start, one after the other. */
export async function newcomers(config: ClientConfig, streamId: string, count: number) {
  const times: number[] = []
  for (let i = 0; i < count; i++) {
    const startMs = performance.now()
    const client = await createClient(config)
    const { done } = await client.resend(streamId, { last: 1 })[Symbol.asyncIterator]().next()
    if (done !== true) times.push(performance.now() - startMs)
    await client.close()
  }
  if (times.length < count)
    throw benchError('INCOMPLETE', `${times.length} of ${count} new clients were answered`)
  return { count, p50Ms: round(percentile(times, 0.5)), p95Ms: round(percentile(times, 0.95)) }
}
