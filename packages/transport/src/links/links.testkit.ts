import {
  createIdentity,
  decodePacket,
  encodePacket,
  generatePrivateKey,
  loadCrypto,
  seededRandom,
  type Contact,
  type Identity,
  type NodeAdmission,
} from '@runnel/protocol'
import type { MemoryNetwork } from '../memory/memory-network.ts'
import type { VirtualClock } from '../memory/virtual-clock.ts'
import type { Connection, Transport } from '../ports.ts'
import { createLinks, type LinksOwner } from './create-links.ts'
import type { LinksOptions } from './links-options.ts'

const crypto = await loadCrypto()

export function identityOf(label: string): Identity {
  return createIdentity(generatePrivateKey(seededRandom(label)), crypto)
}

/** Two identities, the one with the lower id first. */
export function twoIdentities(label: string): [Identity, Identity] {
  const [a, b] = [identityOf(`${label} 1`), identityOf(`${label} 2`)]
  return a.nodeId < b.nodeId ? [a, b] : [b, a]
}

/** Contacts of a node that dials everybody, and of one that everybody dials. */
export const dialsEverybody: Contact = { addresses: [], dials: ['websocket'] }
export const dialledByEverybody: Contact = {
  addresses: [{ kind: 'websocket', text: 'memory:' }],
  dials: ['websocket'],
}

export interface TestNode {
  readonly links: LinksOwner
  readonly identity: Identity
  /** What the owner was told: `opened`, `closed CODE`, `failed CODE`. */
  readonly log: string[]
  /** The numbers that came, see `numbered`. */
  readonly received: number[]
  /** Every connection ever opened. */
  readonly connections: Connection[]
}

/**
 * A node with Links over a memory network. Its transport passes for a WebSocket, so that its contact decides who dials; a node
 * that considers itself unreachable and others reachable always dials.
 */
export async function createTestNode(
  identity: Identity,
  options: Partial<LinksOptions>,
  { network, clock, admission }: { network: MemoryNetwork; clock: VirtualClock; admission?: NodeAdmission },
): Promise<TestNode> {
  const random = seededRandom(identity.nodeId)
  const memory = network.transport({ role: 'node' }, { clock, random, crypto, identity })
  const connections: Connection[] = []
  const websocket = asWebSocket(memory, (connection) => connections.push(connection))
  const links = createLinks(
    { self: identity.nodeId, contact: () => dialsEverybody, ...options },
    { clock, transports: [websocket], admission },
  )
  await websocket.start()
  const log: string[] = []
  const received: number[] = []
  links.events = {
    onOpened: () => log.push('opened'),
    onClosed: (_, { code }) => log.push(`closed ${code}`),
    onFailed: (_, { code }) => log.push(`failed ${code}`),
    onPacket(_, type, body) {
      const packet = decodePacket(type, body)
      if (packet.type === 'iceServers') received.push(packet.ttlS)
    },
    onDrain() {},
  }
  return { links, identity, log, received, connections }
}

/** A packet that carries a number, and so many thousands of bytes beside it, at most 16. */
export function numbered(n: number, kilobytes = 0): Uint8Array {
  const server = { url: 'x'.repeat(498), username: 'x'.repeat(498), credential: '' }
  return encodePacket({ type: 'iceServers', servers: Array<typeof server>(kilobytes).fill(server), ttlS: n })
}

function asWebSocket(memory: Transport, onConnection: (connection: Connection) => void): Transport {
  const transport: Transport = {
    kind: 'websocket',
    addresses: memory.addresses,
    canDial: (url) => memory.canDial(url),
    onInbound() {},
    start: () => memory.start(),
    stop: () => memory.stop(),
    dial: (request) =>
      memory.dial({
        ...request,
        onOpen(connection) {
          onConnection(connection)
          request.onOpen(connection)
        },
      }),
  }
  memory.onInbound = (connection) => {
    onConnection(connection)
    transport.onInbound(connection)
  }
  return transport
}
