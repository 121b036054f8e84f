import { decodePacket, encodePacket, PacketType, type IceServer } from '@runnel/protocol'
import type { TrackerAddress } from '@runnel/network'
import { parseIceServer, type Connection } from '@runnel/transport'
import { withTracker } from './dial-tracker.ts'

/** How long a tracker may take to name its servers, in milliseconds. */
const namingTimeoutMs = 5_000

/** The STUN and TURN servers that a tracker names to a node; none when it names none in time. */
export async function iceServersOf(tracker: TrackerAddress): Promise<readonly IceServer[]> {
  return withTracker(tracker, namedOn).catch(() => [])
}

async function namedOn(connection: Connection): Promise<readonly IceServer[]> {
  const { promise, resolve } = Promise.withResolvers<readonly IceServer[]>()
  const timer = setTimeout(() => resolve([]), namingTimeoutMs)
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
  return promise.finally(() => clearTimeout(timer))
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
