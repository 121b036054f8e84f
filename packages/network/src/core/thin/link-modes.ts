import type { FloodMode, NodeId, StreamPartId } from '@runnel/protocol'

/** Number of message chains by flood mode. */
export type ChainsByMode = Readonly<Record<FloodMode, number>>

/** How the chains whose floods this node thins go over one link: as it asked the neighbour, and as the neighbour asked it. */
export interface LinkModes {
  readonly received: ChainsByMode
  readonly sent: ChainsByMode
}

type Counts = Record<keyof LinkModes, Record<FloodMode, number>>

/** Counts chains by stream part, neighbour and mode. */
export class LinkModeTally {
  readonly #links = new Map<StreamPartId, Map<NodeId, Counts>>()

  /** One more chain, of each neighbour of its stream part. */
  add(
    part: { readonly id: StreamPartId; readonly attached: readonly NodeId[] },
    modesOf: (peerId: NodeId) => Readonly<Record<keyof LinkModes, FloodMode>>,
  ): void {
    let links = this.#links.get(part.id)
    if (links === undefined) this.#links.set(part.id, (links = new Map<NodeId, Counts>()))
    for (const peerId of part.attached) {
      let counts = links.get(peerId)
      if (counts === undefined) links.set(peerId, (counts = { received: noChains(), sent: noChains() }))
      const { received, sent } = modesOf(peerId)
      counts.received[received]++
      counts.sent[sent]++
    }
  }

  /** Undefined where no chain is thinned. */
  of(streamPartId: StreamPartId, peerId: NodeId): LinkModes | undefined {
    return this.#links.get(streamPartId)?.get(peerId)
  }
}

const noChains = (): Record<FloodMode, number> => ({ eager: 0, standby: 0, digest: 0 })
