import type { Message } from '@runnel/client'
import type { WebSocket } from 'ws'
import { messageFields } from '../../cli/message-fields.ts'
import { nodeError } from '../../errors.ts'
import { requireReading, streamOf, type Caller } from '../callers.ts'
import type { Gateway } from '../gateway.ts'
import { problemOf, waitOf } from '../http/problem.ts'
import { partitionsOf, selectionOf } from '../http/queries.ts'
import { gatewayLimits } from '../limits.ts'
import { leftOutFields } from '../reading/left-out-fields.ts'
import { CreditedReader } from '../reading/credited-reader.ts'
import type { ReaderSink } from '../reading/stream-reader.ts'
import { decodeFrame, type Frame, type Subprotocol } from './frames.ts'
import { contentOfOperation, idOf, parseOperation, type Operation } from './operations.ts'
import { SocketWriter } from './socket-writer.ts'

/** What is sent of a message: in the binary subprotocol its content stands behind. */
interface MessageFrame {
  readonly fields: Readonly<Record<string, unknown>>
  readonly content: Uint8Array | undefined
}

/** One client's WebSocket: what it publishes, and its subscriptions. */
export class GatewayConnection {
  readonly #socket: WebSocket
  readonly #writer: SocketWriter
  readonly #protocol: Subprotocol
  readonly #caller: Caller
  readonly #gateway: Gateway
  readonly #readers = new Map<number, CreditedReader<MessageFrame>>()
  #lastSubscription = 0
  #underWay = 0

  constructor(socket: WebSocket, protocol: Subprotocol, modules: { caller: Caller; gateway: Gateway }) {
    this.#socket = socket
    this.#protocol = protocol
    this.#caller = modules.caller
    this.#gateway = modules.gateway
    this.#writer = new SocketWriter(socket, protocol, modules.gateway.clock)
  }

  start(): void {
    this.#socket.on('message', (data: Buffer, isBinary) => this.#received(data, isBinary))
    // What is wrong with a frame ends the connection, with a code of its own.
    this.#socket.on('error', () => {})
    this.#socket.once('close', () => {
      for (const reader of this.#readers.values()) void reader.stop()
      this.#readers.clear()
      this.#caller.release()
    })
  }

  #received(data: Buffer, isBinary: boolean): void {
    // It is being closed, as its key has ended: a client may go on for half a minute before it answers that.
    if (this.#socket.readyState !== this.#socket.OPEN) return
    let frame: Frame
    try {
      frame = decodeFrame(data, isBinary, this.#protocol)
    } catch (error) {
      void this.#refuse(undefined, error)
      this.#writer.close(4400)
      return
    }
    // A client that asks faster than is answered is read more slowly.
    if (++this.#underWay >= gatewayLimits.maxRequestsUnderWay) this.#socket.pause()
    void this.#answer(frame)
      .catch((error: unknown) => this.#refuse(frame, error))
      .finally(() => {
        if (--this.#underWay <= gatewayLimits.maxRequestsUnderWay / 2 && this.#socket.isPaused)
          this.#socket.resume()
      })
  }

  async #answer(frame: Frame): Promise<void> {
    const operation = parseOperation(frame)
    switch (operation.op) {
      case 'publish':
        return this.#publish(operation, frame.content)
      case 'subscribe':
        return this.#subscribe(operation)
      case 'batch':
        return this.#relay(operation, frame.content)
      case 'credit':
        return this.#credit(operation)
      case 'unsubscribe':
        return this.#unsubscribe(operation)
    }
  }

  async #publish(
    operation: Extract<Operation, { op: 'publish' }>,
    bytes: Uint8Array | undefined,
  ): Promise<void> {
    const { account, client } = this.#caller
    const { publisher } = this.#gateway
    const { id, stream, wait, timeoutMs, partition, partitionKey, key, headers } = operation
    const streamId = streamOf(stream, account)
    publisher.requireAllowed(account, streamId)
    const given = contentOfOperation(operation, bytes)
    publisher.requireRoom(account, given.bytes)
    const options = { partition, partitionKey, key, headers }
    const answer = await publisher.publish(client, { streamId, ...given, options })
    const message = wait === undefined ? answer : await publisher.waitUntilStored(client, answer, timeoutMs)
    await this.#writer.say({ op: 'published', id, message })
  }

  async #relay(
    { id, stream, ...operation }: Extract<Operation, { op: 'batch' }>,
    bytes: Uint8Array | undefined,
  ): Promise<void> {
    const batch = bytes ?? Buffer.from(operation.batch ?? '', 'base64')
    const delegation =
      operation.delegation === undefined ? undefined : Buffer.from(operation.delegation, 'base64')
    const streamId = streamOf(stream, this.#caller.account)
    const relayed = await this.#gateway.publisher.relay(
      this.#caller,
      streamId,
      new Uint8Array(batch),
      delegation,
    )
    await this.#writer.say({ op: 'relayed', id, batch: relayed })
  }

  async #subscribe(operation: Extract<Operation, { op: 'subscribe' }>): Promise<void> {
    const { account, client } = this.#caller
    const { clock } = this.#gateway
    const { id, stream, partition, cursor, last, from, credit = Infinity } = operation
    const streamId = streamOf(stream, account)
    requireReading(account, streamId)
    if (this.#readers.size >= gatewayLimits.maxSubscriptions)
      throw nodeError('GATEWAY_TOO_MANY_CONNECTIONS', `${this.#readers.size} subscriptions`)
    const resend = cursor === undefined ? selectionOf({ last, from }, clock.now()) : undefined
    const subscription = ++this.#lastSubscription
    const opened = Promise.withResolvers<void>()
    const sink = this.#sinkOf(subscription, opened.promise)
    const options = { streamId, partitions: partitionsOf(partition), cursor, resend }
    const parked = () => void this.#gateway.counts.parkedReaders++
    const reader = new CreditedReader(options, credit, { client, sink, clock, parked })
    this.#readers.set(subscription, reader)
    try {
      await reader.start()
    } catch (error) {
      this.#readers.delete(subscription)
      throw error
    }
    // It may be closed by now, or have ended.
    if (!this.#readers.has(subscription)) await reader.stop()
    await this.#writer.say({ op: 'subscribed', id, subscription, cursor: reader.cursor })
    opened.resolve()
  }

  async #credit({ id, subscription, messages }: Extract<Operation, { op: 'credit' }>): Promise<void> {
    const reader = this.#readers.get(subscription)
    if (reader === undefined) throw nodeError('INPUT_INVALID', `there is no subscription ${subscription}`)
    reader.grant(messages)
    await this.#writer.say({ op: 'credited', id, subscription })
  }

  async #unsubscribe({ id, subscription }: Extract<Operation, { op: 'unsubscribe' }>): Promise<void> {
    const reader = this.#readers.get(subscription)
    this.#readers.delete(subscription)
    await reader?.stop()
    await this.#writer.say({ op: 'unsubscribed', id, subscription })
  }

  /** Nothing is sent of a subscription before its number is. */
  #sinkOf(subscription: number, opened: Promise<void>): ReaderSink<MessageFrame> {
    const { counts } = this.#gateway
    const say = (header: object) => void opened.then(() => this.#writer.say({ ...header, subscription }))
    let isOpen = false
    void opened.then(() => (isOpen = true))
    const send = ({ fields, content }: MessageFrame, cursor: string) => {
      counts.delivered++
      return this.#writer.say({ op: 'message', subscription, cursor, message: fields }, content)
    }
    return {
      frame: (message) => this.#frameOf(message),
      send: (frame, cursor) => (isOpen ? send(frame, cursor) : opened.then(() => send(frame, cursor))),
      gap: (gap) => say({ op: 'gap', gap }),
      undecodable: (last, count) =>
        opened.then(() =>
          this.#writer.say({ op: 'undecodable', subscription, ...leftOutFields(last, count) }),
        ),
      lost: (error) => say({ op: 'lost', problem: problemOf(error) }),
      ended: (error) => {
        counts.noteEnd(error)
        this.#readers.delete(subscription)
        say({ op: 'ended', problem: problemOf(error) })
      },
    }
  }

  #frameOf(message: Message): { readonly frame: MessageFrame; readonly bytes: number } {
    const { content, ...fields } = messageFields(message)
    if (!this.#writer.isBinary) {
      const whole = { ...fields, content }
      return { frame: { fields: whole, content: undefined }, bytes: JSON.stringify(whole).length }
    }
    const bytes = bytesOf(message)
    return { frame: { fields, content: bytes }, bytes: bytes.length }
  }

  /** Resolves when there is room for the next answer: a client that does not read them is read no further. */
  #refuse(frame: Frame | undefined, error: unknown): Promise<void> | undefined {
    const problem = problemOf(error)
    this.#gateway.counts.refuse(problem.code)
    const answer = { op: 'error', id: frame && idOf(frame), ...problem, retryAfterMs: waitOf(error) }
    return this.#writer.say(answer)
  }
}

function bytesOf({ content }: Message): Uint8Array {
  if (content instanceof Uint8Array) return content
  return Buffer.from(typeof content === 'string' ? content : JSON.stringify(content))
}
