import {
  createIdentity,
  decodePacket,
  encodePacket,
  generatePrivateKey,
  loadCrypto,
  PacketType,
  type IceServer,
} from '@runnel/protocol'
import { systemClock, systemRandom } from '@runnel/protocol/system'
import type { TrackerAddress } from '@runnel/network'
import { parseIceServer, WebSocketTransport, type Connection } from '@runnel/transport'

/** How long a tracker may take to connect and to name its servers, in milliseconds. */
const namingTimeoutMs = 5_000

/** The STUN and TURN servers that a tracker names to a node; none when it names none in time. */
export async function iceServersOf({ nodeId: peerId, url }: TrackerAddress): Promise<readonly IceServer[]> {
  const crypto = await loadCrypto()
  const identity = createIdentity(generatePrivateKey(systemRandom), crypto)
  const modules = { identity, crypto, clock: systemClock, random: systemRandom, agent: 'runnel doctor' }
  const transport = new WebSocketTransport({ role: 'node' }, modules)
  await transport.start()
  const { promise, resolve } = Promise.withResolvers<readonly IceServer[]>()
  const timer = setTimeout(() => resolve([]), namingTimeoutMs)
  transport.dial({
    peerId,
    url,
    timeoutMs: namingTimeoutMs,
    onOpen: (connection: Connection) => {
      connection.events = {
        onPacket: (type, body) => {
          if (type !== PacketType.iceServers) return
          const packet = decodePacket(type, body.slice())
          if (packet.type === 'iceServers') resolve(packet.servers)
        },
        onDrain: () => {},
        onClose: () => resolve([]),
      }
      connection.send(encodePacket({ type: 'nodeInfo', contact: { addresses: [], dials: ['websocket'] } }))
    },
    onFail: () => resolve([]),
  })
  try {
    return await promise
  } finally {
    clearTimeout(timer)
    await transport.stop()
  }
}

/** Where STUN requests can be sent: STUN servers, and TURN servers that are reached by UDP. */
export function stunAddressesOf(servers: readonly IceServer[]): { hostname: string; port: number }[] {
  return servers.flatMap((server) => {
    try {
      const { scheme, transport, hostname, port } = parseIceServer(server)
      return scheme === 'turns' || transport === 'tcp' ? [] : [{ hostname, port }]
    } catch {
      // A node that carries circuits, or what a later version knows.
      return []
    }
  })
}
