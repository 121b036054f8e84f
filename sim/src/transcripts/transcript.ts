import { decodePacket, encodePacket, readPackets, type NodeId } from '@runnel/protocol'
import type { Connection } from '@runnel/transport'
import { noArchive } from '../world/no-archive.ts'
import { tapped } from '../world/tapped-transport.ts'
import { setScene, type Scene } from './scene.ts'

/** What a node did, and to whom. */
export interface Step {
  /** Milliseconds of virtual time since the scene began. */
  readonly atMs: number
  readonly to: string
  /** The packet that it sent, in hexadecimal digits; absent where it dialled. */
  readonly packet?: string
}

const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')

/** Records what the third node of the scene does. */
export async function recordTranscript(): Promise<Step[]> {
  const scene = await setScene()
  const { world } = scene
  const steps: Step[] = []
  const startMs = world.clock.monotonicMs()
  const add = (peerId: NodeId, packet?: Uint8Array): void => {
    const step = { atMs: world.clock.monotonicMs() - startMs, to: scene.nameOf(peerId) }
    steps.push(packet === undefined ? step : { ...step, packet: hexOf(packet) })
  }
  const { node } = await world.addNode('third', noArchive, {}, (transport) => {
    const dial = transport.dial.bind(transport)
    transport.dial = (request) => {
      if (request.peerId !== undefined) add(request.peerId)
      return dial(request)
    }
    return tapped(transport, {
      sending: (peerId, packet) => {
        add(peerId, packet)
        return packet
      },
    })
  })
  await scene.play(() => node.publish(scene.nextBatch()))
  return steps
}

/** Does the same once more without a node: the packets are those of the transcript, whatever the others answer. */
export async function playTranscript(steps: readonly Step[]): Promise<Scene> {
  const scene = await setScene()
  const { clock } = scene.world
  const transport = scene.world.transport('third')
  const connections = new Map<NodeId, Connection>()
  /** What was sent in the turn in which a connection opened. */
  const early = new Map<NodeId, Uint8Array[]>()
  const opened = (connection: Connection): void => {
    const { peerId } = connection
    connections.set(peerId, connection)
    connection.events = { onPacket: () => {}, onDrain: () => {}, onClose: () => {} }
    for (const packet of early.get(peerId) ?? []) connection.send(packet)
    early.delete(peerId)
  }
  const send = (peerId: NodeId, packet: Uint8Array): void => {
    const connection = connections.get(peerId)
    if (connection === undefined) early.set(peerId, [...(early.get(peerId) ?? []), packet])
    else connection.send(packet)
  }
  transport.onInbound = opened
  await transport.start()
  for (const { atMs, to, packet } of steps) {
    const peerId = scene.idOf(to)
    clock.schedule(atMs, () => {
      if (packet !== undefined) send(peerId, Buffer.from(packet, 'hex'))
      else transport.dial({ peerId, onOpen: opened, onFail: () => {} })
    })
  }
  await scene.play(() => {})
  return scene
}

/** The kinds of packets in a transcript, each of which decodes and encodes to the bytes it was. Throws when one does not. */
export function kindsIn(steps: readonly Step[]): Set<string> {
  const kinds = new Set<string>()
  for (const { packet: hex } of steps) {
    for (const { type, body, whole } of hex === undefined ? [] : readPackets(Buffer.from(hex, 'hex'))) {
      const packet = decodePacket(type, body)
      if (hexOf(encodePacket(packet)) !== hexOf(whole)) throw new Error(`${packet.type} has two encodings`)
      kinds.add(packet.type)
    }
  }
  return kinds
}
