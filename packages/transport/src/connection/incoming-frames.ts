import { decodePacket, forEachPacket, packetKind, PacketType, type Fragment } from '@runnel/protocol'
import { transportError } from '../errors.ts'
import type { Channel } from './channel.ts'
import { Reassembler } from './fragments.ts'
import type { MutableStats } from './stats.ts'

/** What may come by the lane for datagrams, and on the channel between the fragments of another packet. */
const comesBetween = new Set<number>([
  ...[PacketType.ping, PacketType.pong, PacketType.piece, PacketType.urgent],
  ...[PacketType.mark, PacketType.arrivals],
])

/** Unknown ones are not: whoever has the connection counts them. */
const isOfLink = (type: number): boolean => packetKind(type)?.scope === 'link'

type OnPacket = (type: number, body: Uint8Array, whole: Uint8Array) => void

interface IncomingFramesOptions {
  readonly channel: Pick<Channel, 'maxFrameBytes' | 'datagrams' | 'lossy'>
  readonly maxPacketBytes: number
  /** Whether both ends know urgent messages. */
  readonly knowsUrgent: boolean
  /** Whether both ends know the lossy lane. */
  readonly knowsLossy: boolean
}

/** Who reads them. What `onLinkPacket`, `onUrgent` and `onPacket` throw is how the peer broke the protocol. */
interface IncomingFramesModules {
  readonly stats: MutableStats
  /** Nothing is read any more once it is false. */
  isOpen(): boolean
  /** A frame came. */
  heard(): void
  onLinkPacket(type: number, body: Uint8Array, isDatagram: boolean): void
  onUrgent(body: Uint8Array): void
  readonly onPacket: OnPacket
  onBadInput(error: unknown): void
}

/** Takes the frames of a connection apart, by whatever lane they come, and refuses what may not come there. */
export class IncomingFrames {
  readonly #options: IncomingFramesOptions
  readonly #modules: IncomingFramesModules
  readonly #reassembler: Reassembler

  constructor(options: IncomingFramesOptions, modules: IncomingFramesModules) {
    this.#options = options
    this.#modules = modules
    this.#reassembler = new Reassembler(options.maxPacketBytes)
  }

  /** Reads the lanes from now on; frames of the channel are given to `onFrame`. */
  readLanes(): void {
    const { datagrams, lossy } = this.#options.channel
    if (datagrams !== undefined) datagrams.onFrame = this.#reader(this.#onDatagram)
    if (lossy !== undefined) lossy.onFrame = this.#reader(this.#onLossy)
  }

  /** One frame of the channel. */
  onFrame(frame: Uint8Array): void {
    this.#read(frame, this.onPacket)
  }

  #reader(onPacket: OnPacket): (frame: Uint8Array) => void {
    return (frame) => this.#read(frame, onPacket)
  }

  #read(frame: Uint8Array, onPacket: OnPacket): void {
    const { isOpen, stats, heard, onBadInput } = this.#modules
    if (!isOpen()) return
    try {
      if (frame.length > this.#options.channel.maxFrameBytes)
        throw transportError('FRAME_TOO_LARGE', `${frame.length} bytes`)
      stats.framesIn++
      stats.bytesIn += frame.length
      heard()
      forEachPacket(frame, onPacket)
    } catch (error) {
      onBadInput(error)
    }
  }

  /** One packet of a frame of the channel. Throws when the peer breaks the protocol. */
  readonly onPacket: OnPacket = (type, body, whole) => {
    if (!this.#modules.isOpen()) return
    if (type === PacketType.fragment) return this.#onFragment(body)
    // A close on a fault drops what is queued, including the rest of a packet.
    if (this.#reassembler.busy && type !== PacketType.close && !this.#mayComeBetween(type)) {
      throw transportError('PROTOCOL_VIOLATION', 'a packet between fragments of another')
    }
    if (whole.length > this.#options.maxPacketBytes) {
      throw transportError('FRAME_TOO_LARGE', `a packet of ${whole.length} bytes`)
    }
    this.#take(type, body, whole, false)
  }

  /** One packet that may have been lost, and comes before or after any other. */
  readonly #onDatagram: OnPacket = (type, body, whole) => {
    if (!this.#mayComeBetween(type))
      throw transportError('PROTOCOL_VIOLATION', `packet type ${type} as a datagram`)
    this.#take(type, body, whole, true)
  }

  /** The same by the other lane, of the owner alone. */
  readonly #onLossy: OnPacket = (type, body, whole) => {
    if (!this.#options.knowsLossy || isOfLink(type))
      throw transportError('PROTOCOL_VIOLATION', `packet type ${type} by the lossy lane`)
    this.#take(type, body, whole, true)
  }

  #mayComeBetween(type: number): boolean {
    return comesBetween.has(type) && this.#options.knowsUrgent
  }

  #take(type: number, body: Uint8Array, whole: Uint8Array, isDatagram: boolean): void {
    const { isOpen, stats, onLinkPacket, onUrgent, onPacket } = this.#modules
    if (!isOpen()) return
    stats.packetsIn++
    if (isOfLink(type)) return onLinkPacket(type, body, isDatagram)
    stats.dataIn++
    if (type === PacketType.urgent && this.#options.knowsUrgent) onUrgent(body)
    else onPacket(type, body, whole)
  }

  #onFragment(body: Uint8Array): void {
    this.#modules.stats.dataIn++
    const { bytes, last } = decodePacket(PacketType.fragment, body) as Fragment
    const packet = this.#reassembler.push(bytes, last)
    if (packet === undefined) return
    if (isOfLink(packet.type))
      throw transportError('PROTOCOL_VIOLATION', `packet type ${packet.type} in fragments`)
    this.#modules.stats.packetsIn++
    this.#modules.onPacket(packet.type, packet.body, packet.whole)
  }
}
