import type { RunnelClient } from '@runnel/client'
import type { StreamId } from '@runnel/protocol'
import type { GatewayLimits } from '../limits.ts'

type PublishingClient = Pick<RunnelClient, 'nodeId' | 'stopPublishing'>

/** Leaves the streams that were published to longest ago: each that a client publishes to is joined until then. */
export class PublishedStreams {
  readonly #streams = new Map<string, { readonly client: PublishingClient; readonly streamId: StreamId }>()
  readonly #limits: Pick<GatewayLimits, 'maxPublishedStreams'>

  constructor(limits: Pick<GatewayLimits, 'maxPublishedStreams'>) {
    this.#limits = limits
  }

  get size(): number {
    return this.#streams.size
  }

  /** To be called with each message. */
  note(client: PublishingClient, streamId: StreamId): void {
    const name = `${client.nodeId} ${streamId}`
    this.#streams.delete(name)
    this.#streams.set(name, { client, streamId })
    if (this.#streams.size <= this.#limits.maxPublishedStreams) return
    const [oldest] = this.#streams
    if (oldest === undefined) return
    this.#streams.delete(oldest[0])
    // The client of an identity that was closed meanwhile has left already.
    oldest[1].client.stopPublishing(oldest[1].streamId).catch(() => {})
  }
}
