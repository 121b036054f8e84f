import { seededRandom } from '@runnel/protocol'
import { OverlayTopology } from '@runnel/tracker'
import { bareDataChannelPair } from '../bare/bare-data-channel.ts'
import { packed, type BareLink } from '../bare/bare-link.ts'
import { bareWebSocketPair } from '../bare/bare-websocket.ts'

export interface BareNetworkOptions {
  readonly transport: 'webrtc' | 'websocket'
  readonly nodes: number
  readonly degree: number
  /** Whether the messages of a turn go in one frame. */
  readonly pack: boolean
  /** Called at each node but the first, for each message once. */
  onDelivery(number: number): void
  /** Called at each node, for each copy that came again. */
  onDuplicate?(): void
}

export interface BareNetwork {
  readonly edgeCount: number
  /** Copies that came again, so far. */
  readonly duplicates: number
  /** From the first node. */
  publish(number: number): void
  /** Whether a link has more to send than it should. */
  isBusy(): boolean
  close(): void
}

const messageBytes = 100
const maxQueuedBytes = 1024 * 1024

/** The floor: a flood over bare links, with a set of seen numbers, no codec and no checks. */
export async function bareNetwork(options: BareNetworkOptions): Promise<BareNetwork> {
  const { transport, nodes, degree, pack, onDelivery, onDuplicate } = options
  const topology = new OverlayTopology<string>({ degree }, { random: seededRandom('bare-flood') })
  for (let i = 0; i < nodes; i++) topology.add(String(i))
  const links: BareLink[][] = Array.from({ length: nodes }, () => [])
  for (const [a, b] of topology.edges()) {
    const pair = await (transport === 'webrtc' ? bareDataChannelPair() : bareWebSocketPair())
    const [atA, atB] = pack ? pair.map(packed) : pair
    if (atA) links[Number(a)]?.push(atA)
    if (atB) links[Number(b)]?.push(atB)
  }
  let duplicates = 0
  const seen = Array.from({ length: nodes }, () => new Set<number>())
  const receive = (node: number, from: BareLink | undefined, message: Uint8Array) => {
    const number = new DataView(message.buffer, message.byteOffset).getUint32(0)
    if (seen[node]?.has(number)) {
      duplicates++
      onDuplicate?.()
      return
    }
    seen[node]?.add(number)
    for (const link of links[node] ?? []) if (link !== from) link.send(message)
    if (node !== 0) onDelivery(number)
  }
  links.forEach((own, node) =>
    own.forEach((link) => (link.onMessage = (message) => receive(node, link, message))),
  )
  return {
    edgeCount: topology.edgeCount,
    get duplicates() {
      return duplicates
    },
    publish(number) {
      const message = new Uint8Array(messageBytes)
      new DataView(message.buffer).setUint32(0, number)
      receive(0, undefined, message)
    },
    isBusy: () => links.some((own) => own.some((link) => link.buffered() > maxQueuedBytes)),
    close: () => links.flat().forEach((link) => link.close()),
  }
}
