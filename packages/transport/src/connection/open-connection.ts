import {
  decodePacket,
  encodePacket,
  forEachPacket,
  isRunnelError,
  joined,
  PacketType,
  type Cancel,
  type Close,
  type RunnelError,
} from '@runnel/protocol'
import { transportError } from '../errors.ts'
import type { Connection, DialRequest } from '../ports.ts'
import type { Channel, ChannelEvents } from './channel.ts'
import { closePacket, closeReason } from './close-reason.ts'
import type { Handshake, Peer } from './handshake.ts'
import { connectionLimits, type ConnectionLimits } from './limits.ts'
import { LinkConnection } from './link-connection.ts'
import { guarded, type ConnectionModules } from './modules.ts'
import { SealedChannel } from './sealed-channel.ts'
import { inputOfPacket, transition, type ConnectionState } from './state.ts'

export type { ConnectionModules } from './modules.ts'

export interface OpenOptions extends Pick<DialRequest, 'first'> {
  readonly channel: Channel
  /** A new one of this channel, which knows on which side and in which role this is. */
  readonly handshake: Handshake
  /** The frame with the other's hello, where both hellos were carried beside the channel: neither is sent by it. */
  readonly carriedHello?: Uint8Array | undefined
}

/** Exactly one is called, once, never before `openConnection` returns; neither after it was cancelled. */
export interface OpenHandlers {
  onOpen(connection: Connection): void
  onFail(error: RunnelError): void
}

/**
 * Makes a connection of a channel: the mutual handshake, then packets. Fails with PEER_ID_MISMATCH, HANDSHAKE_FAILED,
 * HANDSHAKE_TIMEOUT, UNSUPPORTED_VERSION, CAPABILITY_MISSING, a DELEGATION_ code, PROTOCOL_VIOLATION, FRAME_TOO_LARGE or CONNECTION_LOST. The channel is closed then,
 * and also when the result is called before the connection is open; afterwards that does nothing.
 */
export function openConnection(
  options: OpenOptions,
  modules: ConnectionModules,
  handlers: OpenHandlers,
): Cancel {
  const opening = new Opening(options, modules, handlers)
  opening.start()
  return () => opening.cancel()
}

class Opening {
  readonly #options: OpenOptions
  readonly #modules: ConnectionModules
  readonly #handlers: OpenHandlers
  readonly #limits: ConnectionLimits
  readonly #handshake: Handshake
  #state: ConnectionState = 'greeting'
  #connection: LinkConnection | undefined
  #saidFirst: Uint8Array | undefined
  /** Proven; its credential is what comes next, in the same frame. */
  #unidentified: Peer | undefined
  #cancelTimeout: Cancel = () => {}
  #cancelled = false
  /** Whether the packets being read came sealed, as they must after the hello on a sealed channel. */
  #isSealed = false

  constructor(options: OpenOptions, modules: ConnectionModules, handlers: OpenHandlers) {
    this.#options = options
    this.#modules = modules
    this.#handlers = handlers
    this.#limits = connectionLimits(modules.limits)
    this.#handshake = options.handshake
  }

  start(): void {
    const { channel, carriedHello } = this.#options
    const { handshakeTimeoutMs } = this.#limits
    channel.events = {
      onFrame: (frame) => this.#onFrame(frame),
      onDrain: () => {},
      onClose: (text, code) => this.#onChannelClose(transportError(code ?? 'CONNECTION_LOST', text)),
    }
    this.#cancelTimeout = this.#modules.clock.schedule(handshakeTimeoutMs, () =>
      this.#fail(transportError('HANDSHAKE_TIMEOUT', `${handshakeTimeoutMs} ms`)),
    )
    if (carriedHello === undefined) channel.send(this.#handshake.hello())
    else this.#onFrame(carriedHello)
  }

  cancel(): void {
    this.#cancelled = true
    // One that has failed is closing its channel.
    if (this.#connection !== undefined || this.#isClosed()) return
    this.#state = 'closed'
    this.#cancelTimeout()
    const { channel } = this.#options
    if (this.#handshake.session === undefined) return channel.close(true)
    // A dialler that has the keys already considers the link open.
    this.#sayGoodbyeAndClose(transportError('SHUTTING_DOWN'))
  }

  #onFrame(frame: Uint8Array): void {
    if (this.#state === 'closing' || this.#state === 'closed') return
    try {
      if (frame.length > this.#limits.maxHandshakeFrameBytes) {
        throw transportError('FRAME_TOO_LARGE', `${frame.length} bytes in a handshake`)
      }
      const packets = this.#state === 'proving' ? this.#opened(frame) : frame
      forEachPacket(packets, this.#onPacket)
      if (this.#unidentified !== undefined)
        throw transportError('HANDSHAKE_FAILED', 'a proof without its credential')
    } catch (error) {
      if (this.#connection === undefined) this.#fail(asFailure(error))
      else this.#connection.onBadInput(error)
    }
  }

  /** A side that fails before it has the keys sends its reason unencrypted. */
  #opened(frame: Uint8Array): Uint8Array {
    const packets = this.#handshake.open(frame)
    this.#isSealed = packets !== undefined
    if (packets === undefined && frame[0] !== PacketType.close)
      throw transportError('HANDSHAKE_FAILED', 'a frame that is not authentic')
    return packets ?? frame
  }

  readonly #onPacket = (type: number, body: Uint8Array, whole: Uint8Array): void => {
    if (this.#unidentified !== undefined) return this.#identify(this.#unidentified, type, body)
    // Packets behind the proof in its frame are those of a proven peer.
    if (this.#connection !== undefined) return this.#connection.onPacket(type, body, whole)
    // Whatever follows a close packet in its frame is ignored.
    if (this.#isClosed()) return
    const input = inputOfPacket(type)
    const next = transition(this.#state, input)
    if (next === 'violation')
      throw transportError('HANDSHAKE_FAILED', `packet type ${type} while ${this.#state}`)
    if (input === 'hello') this.#greet(body)
    if (input === 'proof') this.#open(body)
    if (input === 'goodbye') this.#onGoodbye(decodePacket(type, body) as Close)
    // Sending may have closed the channel.
    if (!this.#isClosed()) this.#state = next
  }

  #isClosed(): boolean {
    return this.#state === 'closed'
  }

  #greet(hello: Uint8Array): void {
    const answer = this.#handshake.receiveHello(hello)
    if (answer === undefined) return
    const first = this.#firstBehind(answer)
    this.#options.channel.send(first === undefined ? answer : joined(answer, first))
    this.#saidFirst = first
  }

  /** What may go behind our proof although the other side has yet to prove itself. On a sealed channel no dialler sends its proof so early. */
  #firstBehind(proof: Uint8Array): Uint8Array | undefined {
    const { carriedHello, first } = this.#options
    if (first === undefined || carriedHello === undefined || this.#handshake.direction !== 'outbound')
      return undefined
    let packets: Uint8Array | undefined
    guarded(this.#modules, () => (packets = first()))
    const isTooLong = proof.length + (packets?.length ?? 0) > this.#limits.maxHandshakeFrameBytes
    return isTooLong ? undefined : packets
  }

  /** The other side gives up. Nobody has proven anything, so its reason is only quoted. */
  #onGoodbye(packet: Close): void {
    const { code, text } = closeReason(packet.code, packet.reason, true)
    this.#report(transportError('HANDSHAKE_FAILED', `the other side closed with ${code}: ${text}`))
    this.#options.channel.close(true)
  }

  #open(proof: Uint8Array): void {
    if (!this.#isSealed) throw transportError('HANDSHAKE_FAILED', 'a proof in the frame of a hello')
    const peer = this.#handshake.receiveProof(proof)
    if (peer.showsCredential) this.#unidentified = peer
    else this.#begin(peer)
  }

  #identify(peer: Peer, type: number, body: Uint8Array): void {
    this.#begin(this.#handshake.receiveCredential(peer, type, body))
    this.#unidentified = undefined
  }

  #begin(peer: Peer): void {
    const { direction } = this.#handshake
    this.#cancelTimeout()
    const channel = this.#sealedChannel()
    const connection = new LinkConnection({ channel, peer, direction, limits: this.#limits }, this.#modules)
    connection.saidFirst = this.#saidFirst
    this.#connection = connection
    channel.events = eventsFor(connection)
    // A dialler waits for the keys before it proves itself.
    if (channel !== this.#options.channel && direction === 'outbound') channel.send(this.#handshake.proof())
    connection.start()
    connection.guard(() => this.#handlers.onOpen(connection))
  }

  #sealedChannel(): Channel {
    const { channel } = this.#options
    const { session } = this.#handshake
    return session === undefined ? channel : new SealedChannel(channel, session)
  }

  /** Tells the other side why, closes the channel and reports. */
  #fail(error: RunnelError): void {
    this.#report(error)
    this.#sayGoodbyeAndClose(error)
  }

  /** The other side may keep its half of the channel open, or take nothing: it has a while. */
  #sayGoodbyeAndClose({ code, message }: RunnelError): void {
    const { channel } = this.#options
    const farewell = encodePacket(closePacket(code, message))
    channel.send(this.#handshake.session?.sending.seal(farewell) ?? farewell)
    this.#cancelTimeout = this.#modules.clock.schedule(this.#limits.closeTimeoutMs, () => channel.close(true))
    channel.close()
  }

  #onChannelClose(error: RunnelError): void {
    this.#cancelTimeout()
    this.#report(error)
  }

  #report(error: RunnelError): void {
    if (this.#state === 'closed') return
    this.#state = 'closed'
    this.#cancelTimeout()
    this.#modules.clock.endOfTurn(() => {
      if (!this.#cancelled) guarded(this.#modules, () => this.#handlers.onFail(error))
    })
  }
}

/** Made here, so that they hold the connection and nothing of the handshake. */
function eventsFor(connection: LinkConnection): ChannelEvents {
  return {
    onFrame: (frame) => connection.onFrame(frame),
    onDrain: () => connection.onDrain(),
    onClose: (text, code) => connection.onChannelClose(text, code),
  }
}

function asFailure(error: unknown): RunnelError {
  if (!isRunnelError(error))
    return transportError('HANDSHAKE_FAILED', 'an unexpected error', { cause: error })
  if (error.code === 'MALFORMED_PACKET' || error.code === 'LIMIT_EXCEEDED') {
    return transportError('PROTOCOL_VIOLATION', error.message, { cause: error })
  }
  return error
}
