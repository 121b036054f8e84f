import { buildBatch, packetBytes, PacketType, parseStreamPartId, type StreamPartId } from '@runnel/protocol'
import type { Connection, ConnectionModules } from '@runnel/transport'

const [current, next] = [3, 4]
/** What 1.1 can do besides. */
export const laterCapability = 'runnel/1.1'
const capability = (required: boolean) => [{ name: laterCapability, required }]

/** What each version says in its hello: 1.1 can do without what 1.0 has not heard of, the strict one cannot, 2.0 cannot speak 1.0. */
export const hellos = {
  '1.0': {},
  '1.1': { versions: { oldest: current, newest: next }, capabilities: capability(false) },
  '1.1, strict': { versions: { oldest: current, newest: next }, capabilities: capability(true) },
  '2.0': { versions: { oldest: next, newest: next } },
} as const satisfies Record<string, Partial<ConnectionModules>>

export type Version = keyof typeof hellos

/** What 1.0 carries in messages and does not read. */
export const laterFields = {
  encryptionType: 9,
  groupKeyId: 'of a later kind',
  extensions: [{ type: 7, bytes: Uint8Array.of(9) }],
}

/** Numbers of packets that 1.0 does not have: about the link itself, and by who gets them. */
const laterTypes = { link: 0x0f, neighbour: 0x4f, node: 0x3e, tracker: 0x3f }
const signatureBytes = 65
const laterSignatureType = 9

/** Sends what 1.0 cannot read, and has to leave alone. */
export function sendLater(
  connection: Connection,
  from: 'node' | 'tracker',
  modules: ConnectionModules,
  part: StreamPartId,
): void {
  const { peerRole } = connection
  const areNodes = from === 'node' && peerRole === 'node'
  for (const type of [laterTypes.link, laterTypes[areNodes ? 'neighbour' : peerRole]])
    connection.send(packetBytes(type, Uint8Array.of(1, 2, 3)))
  if (areNodes) connection.send(packetBytes(PacketType.data, delegatedBatch(part, modules)))
}

/** Signed in a way that 1.0 cannot check. */
function delegatedBatch(part: StreamPartId, { identity, crypto }: ConnectionModules): Uint8Array {
  const { streamId, partition } = parseStreamPartId(part)
  const chain = { streamId, partition, publisherId: identity.nodeId, messageChainId: 'delegated' }
  const place = { timestamp: 1, sequenceNumber: 0, previous: undefined }
  const message = { ...place, ...laterFields, contentType: 2, content: new Uint8Array(0) }
  const bytes = buildBatch({ chain, messages: [message] }, crypto, identity).bytes.slice()
  bytes[bytes.length - signatureBytes - 1] = laterSignatureType
  return bytes
}
