import type { Duplex } from 'node:stream'
import type { Clock } from '@runnel/protocol'
import type { IConnectPacket, Packet } from 'mqtt-packet'
import { decode, decodeConnect, encode } from './codec.ts'
import { Conversation, type ConversationEffects, type SubscriptionRequest } from './core/conversation.ts'
import { Frames } from './core/frames.ts'
import { checkPacket } from './core/packet-checks.ts'
import { MqttProblem, Reason } from './core/reasons.ts'
import type { Session } from './core/session.ts'
import type { Sessions } from './core/sessions.ts'
import type { MqttMessage } from './core/to-runnel.ts'
import type { MqttLimits } from './limits.ts'

/** What a connection needs of the gateway. */
export interface ConnectionModules {
  readonly sessions: Sessions
  readonly clock: Clock
  readonly gateway: {
    authenticate(connection: Connection, connect: IConnectPacket): void
    publish(session: Session, message: MqttMessage, done: (result: number | MqttProblem) => void): void
    subscribe(
      session: Session,
      requests: readonly SubscriptionRequest[],
      done: (reasons: readonly number[], text: string | undefined) => void,
    ): void
    unsubscribe(session: Session, filter: string): boolean
    /** Milliseconds until a packet of so many bytes may be handled; 0 where it may now. */
    takeRate(session: Session, bytes: number): number
    /** A client is read no further until it has read its answers. */
    slowed(): void
    /** Of the client, or of the gateway itself. */
    failed(connection: Connection, error: unknown): void
    received(packets: number, bytes: number): void
    sent(bytes: number): void
    closed(connection: Connection): void
  }
}

/** Who is at the other end. */
export interface Peer {
  readonly address: string
  /** SHA-256 of its certificate; undefined where it showed none. */
  readonly certificateFingerprint: string | undefined
}

const connectType = 1
/** PUBLISH, SUBSCRIBE and UNSUBSCRIBE. */
const ratedTypes: readonly number[] = [3, 8, 10]
/** A whole PINGREQ. */
const pingRequest = Buffer.from([0xc0, 0])
/** How long a client may take to read the last packets after the end. */
const lingerMs = 1_000

/** One client's socket: reads packets as fast as they can be handled, and writes those of a turn at once. */
export class Connection implements ConversationEffects {
  readonly peer: Peer
  readonly conversation: Conversation
  session: Session | undefined
  /** Ends its place among the connections of its key. */
  countOut: () => void = () => {}
  readonly #limits: MqttLimits
  readonly #modules: ConnectionModules
  readonly #stream: Duplex
  readonly #frames: Frames
  /** Complete packets that wait. */
  #waiting: Buffer[] = []
  #isReading = false
  #isSlowed = false
  #isCorked = false
  /** The client sends no more. */
  #hasLeft = false
  /** Answers since one was written with all before it. */
  #answers = 0

  constructor(stream: Duplex, peer: Peer, limits: MqttLimits, modules: ConnectionModules) {
    this.peer = peer
    this.#limits = limits
    this.#modules = modules
    this.#stream = stream
    this.#frames = new Frames(limits.maxPacketBytes, limits.maxConnectBytes)
    const { sessions, clock } = modules
    const time = () => ({ nowMs: clock.monotonicMs(), wallMs: clock.now() })
    this.conversation = new Conversation(limits, { sessions, effects: this, time })
    stream.on('data', (data: Buffer) => this.#take(data))
    stream.on('drain', () => this.conversation.wake())
    // An error is followed by `close`.
    stream.on('error', () => {})
    stream.on('end', () => {
      this.#hasLeft = true
      this.#leave()
    })
    stream.on('close', () => {
      this.conversation.closed(clock.monotonicMs())
      modules.gateway.closed(this)
    })
  }

  get isOpen(): boolean {
    return !this.#stream.closed
  }

  get isWritable(): boolean {
    return this.#stream.writableLength < this.#limits.maxUnsentBytes
  }

  send(packet: Packet, maxBytes: number): boolean {
    let bytes: Buffer
    try {
      bytes = encode(packet, this.conversation.version)
    } catch (error) {
      this.#modules.gateway.failed(this, error)
      return false
    }
    if (bytes.length > maxBytes) return false
    if (this.#stream.destroyed || this.#stream.writableEnded) return true
    if (!this.#isCorked) {
      this.#isCorked = true
      this.#stream.cork()
      this.#modules.clock.endOfTurn(() => this.#uncork())
    }
    const isLast = packet.cmd !== 'publish' && ++this.#answers === this.#limits.maxUnwrittenAnswers
    if (isLast) this.#stream.write(bytes, () => this.#wrote())
    else this.#stream.write(bytes)
    this.#modules.gateway.sent(bytes.length)
    return true
  }

  end(): void {
    this.#waiting = []
    this.#uncork()
    this.#stream.end()
    this.#modules.clock.schedule(lingerMs, () => this.#stream.destroy())
  }

  authenticate(connect: IConnectPacket): void {
    this.#modules.gateway.authenticate(this, connect)
  }

  publish(session: Session, message: MqttMessage, done: (result: number | MqttProblem) => void): void {
    this.#modules.gateway.publish(session, message, (result) => {
      done(result)
      this.resume()
    })
  }

  subscribe(
    session: Session,
    requests: readonly SubscriptionRequest[],
    done: (reasons: readonly number[], text: string | undefined) => void,
  ): void {
    this.#modules.gateway.subscribe(session, requests, (reasons, text) => {
      done(reasons, text)
      this.resume()
    })
  }

  unsubscribe(session: Session, filter: string): boolean {
    return this.#modules.gateway.unsubscribe(session, filter)
  }

  /** To be called every second. A client that is made to wait is not silent. */
  tick(nowMs: number): void {
    if (!this.#isSlowed && !this.conversation.isBusy) this.conversation.tick(nowMs)
  }

  /** Goes on with packets that waited. */
  resume(): void {
    if (this.#waiting.length > 0 && !this.#isReading) this.#read()
  }

  #wrote(): void {
    this.#answers = 0
    this.resume()
  }

  #take(data: Buffer): void {
    // What follows a packet that ended it is the rest of that packet, and no packets of its own.
    if (this.conversation.hasEnded) return
    this.#guard(() => {
      const frames = this.#frames.push(data)
      this.#modules.gateway.received(frames.length, data.length)
      this.#waiting = this.#waiting.length === 0 ? frames : [...this.#waiting, ...frames]
    })
    if (!this.#isReading) this.#read()
  }

  #read(): void {
    this.#isReading = true
    this.#guard(() => {
      let at = 0
      const frames = this.#waiting
      for (; at < frames.length && !this.#mustWait(frames[at]); at++) {
        const frame = frames[at]
        if (frame !== undefined) this.#handle(frame)
      }
      this.#waiting = this.conversation.hasEnded ? [] : this.#answerPings(frames.slice(at))
    })
    this.#isReading = false
    if (this.#isFull) this.#stream.pause()
    else this.#stream.resume()
    this.#leave()
  }

  /** Those of packets that wait, so that their client does not take the gateway for dead; returns the other packets. */
  #answerPings(waiting: readonly Buffer[]): Buffer[] {
    return waiting.filter((frame) => {
      const isAnswered = this.conversation.isOpen && !this.#hasUnwritten && frame.equals(pingRequest)
      if (isAnswered) this.#handle(frame)
      return !isAnswered
    })
  }

  /** A client is read beyond a packet that waits, as a ping may follow it. */
  get #isFull(): boolean {
    const { maxWaitingPackets, maxWaitingBytes } = this.#limits
    const bytes = this.#waiting.reduce((sum, { length }) => sum + length, 0)
    return this.#waiting.length >= maxWaitingPackets || bytes >= maxWaitingBytes
  }

  get #hasUnwritten(): boolean {
    return this.#answers >= this.#limits.maxUnwrittenAnswers
  }

  /** What a client sent before it left is handled first. */
  #leave(): void {
    if (this.#hasLeft && this.#waiting.length === 0) this.#stream.end()
  }

  #mustWait(frame: Buffer | undefined): boolean {
    if (this.conversation.isBusy || this.#isSlowed) return true
    if (this.#hasUnwritten) {
      this.#modules.gateway.slowed()
      return true
    }
    const isRated = frame !== undefined && ratedTypes.includes((frame[0] ?? 0) >> 4)
    if (!isRated || this.session === undefined) return false
    const waitMs = this.#modules.gateway.takeRate(this.session, frame.length)
    if (waitMs === 0) return false
    this.#isSlowed = true
    this.#modules.clock.schedule(waitMs, () => {
      this.#isSlowed = false
      this.resume()
    })
    return true
  }

  #handle(frame: Buffer): void {
    const { conversation } = this
    const isConnect = (frame[0] ?? 0) >> 4 === connectType
    if (isConnect && conversation.isOpen) throw new MqttProblem(Reason.protocolError, 'a second CONNECT')
    const packet = isConnect ? decodeConnect(frame) : decode(frame, conversation.version)
    checkPacket(packet, this.#limits)
    conversation.receive(packet)
  }

  /** What goes wrong ends this connection, and no other. */
  #guard(work: () => void): void {
    try {
      work()
    } catch (error) {
      this.#waiting = []
      this.#modules.gateway.failed(this, error)
      this.conversation.fail(
        error instanceof MqttProblem ? error : new MqttProblem(Reason.unspecified, 'an error of the gateway'),
      )
      this.#stream.resume()
    }
  }

  #uncork(): void {
    if (!this.#isCorked) return
    this.#isCorked = false
    this.#stream.uncork()
  }
}
