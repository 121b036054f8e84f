import { connect, type Socket } from 'node:net'

export interface RawClientOptions {
  readonly port: number
  readonly clientId: string
  /** The password; undefined where anybody is let in. */
  readonly key?: string | undefined
}

/** A client of MQTT 3.1.1 that costs next to nothing, so that what is measured is the server: QoS 0, and one topic to publish to. */
export class RawClient {
  readonly socket: Socket
  onMessage: (payload: Buffer) => void = () => {}
  #answered: (code: number) => void = () => {}
  #rest: Buffer = Buffer.alloc(0)

  private constructor(socket: Socket) {
    this.socket = socket
    socket.setNoDelay(true)
    socket.on('data', (data: Buffer) => this.#take(data))
    socket.on('error', () => {})
  }

  static async connect({ port, clientId, key }: RawClientOptions): Promise<RawClient> {
    const client = new RawClient(connect(port, '127.0.0.1'))
    const flags = key === undefined ? 0x02 : 0xc2
    const credentials = key === undefined ? [] : [text('bench'), text(key)]
    await client.#ask(
      packet(0x10, text('MQTT'), Buffer.from([4, flags, 0, 0]), text(clientId), ...credentials),
    )
    return client
  }

  async subscribe(topic: string): Promise<void> {
    await this.#ask(packet(0x82, Buffer.from([0, 1]), text(topic), Buffer.from([0])))
  }

  publish(packets: Buffer): void {
    this.socket.write(packets)
  }

  end(): void {
    this.socket.destroy()
  }

  async #ask(question: Buffer): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<number>()
    this.#answered = resolve
    this.socket.once('close', () => reject(new Error('the server ended the connection')))
    this.socket.write(question)
    const code = await promise
    if (code !== 0) throw new Error(`the server answered ${code}`)
  }

  #take(data: Buffer): void {
    const bytes = this.#rest.length === 0 ? data : Buffer.concat([this.#rest, data])
    let at = 0
    for (;;) {
      const { start, end } = bodyOf(bytes, at)
      if (end > bytes.length) break
      const type = (bytes[at] ?? 0) >> 4
      if (type === 3) this.onMessage(bytes.subarray(start + 2 + bytes.readUInt16BE(start), end))
      // The last byte of CONNACK and of SUBACK says how it went.
      else this.#answered(bytes[end - 1] ?? 255)
      at = end
    }
    this.#rest = bytes.subarray(at)
  }
}

/** A message of QoS 0. */
export function publishPacket(topic: string, payload: string): Buffer {
  return packet(0x30, text(topic), Buffer.from(payload))
}

function packet(type: number, ...parts: readonly Buffer[]): Buffer {
  const length = parts.reduce((sum, part) => sum + part.length, 0)
  const head = length < 128 ? [length] : [(length % 128) + 128, Math.floor(length / 128)]
  return Buffer.concat([Buffer.from([type, ...head]), ...parts])
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value)
  return Buffer.concat([Buffer.from([bytes.length >> 8, bytes.length & 255]), bytes])
}

function bodyOf(bytes: Buffer, at: number): { start: number; end: number } {
  let length = 0
  for (let i = 0; ; i++) {
    const byte = bytes[at + 1 + i]
    if (byte === undefined) return { start: Infinity, end: Infinity }
    length += (byte & 0x7f) * 128 ** i
    if (byte < 0x80) return { start: at + 2 + i, end: at + 2 + i + length }
  }
}
