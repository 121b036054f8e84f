import { generate, parser as newParser, type Packet, type Parser } from 'mqtt-packet'
import { MqttProblem, Reason } from './core/reasons.ts'

/** The first packet of a connection, which says the version of the others. Throws MqttProblem. */
export function decodeConnect(frame: Buffer): Packet {
  return new Decoder(undefined).decode(frame)
}

/** Any other. Throws MqttProblem. */
export function decode(frame: Buffer, version: number): Packet {
  return (version === 5 ? decoders.of5 : decoders.of3).decode(frame)
}

/** A packet for a client of this version. */
export function encode(packet: Packet, version: number): Buffer {
  return generate(packet, { protocolVersion: version === 5 ? 5 : 4 })
}

/** Decodes complete packets, of any number of clients. */
class Decoder {
  readonly #version: number | undefined
  #parser: Parser
  #packet: Packet | undefined
  #error: unknown

  constructor(version: number | undefined) {
    this.#version = version
    this.#parser = this.#newParser()
  }

  decode(frame: Buffer): Packet {
    this.#packet = undefined
    this.#error = undefined
    let left = 0
    try {
      left = this.#parser.parse(frame)
    } catch (error) {
      this.#error = error
    }
    const packet = this.#packet as Packet | undefined
    if (packet !== undefined && this.#error === undefined && left === 0) return packet
    // What it may have kept is no part of the next packet.
    this.#parser = this.#newParser()
    const text = this.#error instanceof Error ? this.#error.message : 'a packet that is cut short'
    const isVersion = text === 'Invalid protocol version'
    throw new MqttProblem(isVersion ? Reason.unsupportedVersion : Reason.malformed, text)
  }

  #newParser(): Parser {
    const parser = newParser(this.#version === undefined ? {} : { protocolVersion: this.#version })
    parser.on('packet', (packet) => (this.#packet ??= packet))
    parser.on('error', (error: unknown) => (this.#error ??= error))
    return parser
  }
}

const decoders = { of3: new Decoder(4), of5: new Decoder(5) }
