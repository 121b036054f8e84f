import { mediaError } from '../errors.ts'
import { mediaLimits } from '../limits.ts'
import type { BytesReader } from './bytes-reader.ts'
import { sentBefore } from './sent-before.ts'

const headerBytes = 27
const [continued, first] = [1, 2] as const
/** The polynomial of RFC 3533, section 6, not reflected. */
const crcTable = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte << 24
  for (let i = 0; i < 8; i++) value = value & 0x8000_0000 ? (value << 1) ^ 0x04c1_1db7 : value << 1
  return value >>> 0
})

interface Page {
  readonly flags: number
  readonly serial: number
  readonly lacing: Uint8Array
  readonly body: Uint8Array
}

export interface OpusPacket {
  readonly data: Uint8Array
  /** Whether it is the first of its file, of several that are joined. */
  readonly isFirst: boolean
}

/**
 * The packets of the first stream of Opus in an Ogg file, without its two headers (RFC 7845), and of files joined to it end to end, as by `cat`
 * (RFC 3533, section 4). Throws FILE_INVALID.
 */
export async function* opusPackets(reader: BytesReader): AsyncGenerator<OpusPacket> {
  let serial: number | undefined
  let [files, count, sent] = [0, 0, 0]
  let isBeginning = true
  let packet = new PacketParts()
  for (let page = await readPage(reader, sent); page !== undefined; page = await readPage(reader, sent)) {
    const beginsStream = (page.flags & first) !== 0
    // All streams of a file begin before any other page of it.
    if (beginsStream && !isBeginning) serial = undefined
    isBeginning = beginsStream
    if (serial === undefined) {
      if (!beginsStream) throw noOpus(files, sent)
      if (!startsWith(page.body, 'OpusHead')) continue
      refuseSurround(page.body)
      serial = page.serial
      files++
      count = 0
    }
    if (page.serial !== serial) continue
    // Its beginning was not here, or its end is not.
    if (!(page.flags & continued)) packet = new PacketParts()
    for (const data of packetsOf(page, packet)) {
      if (count === 1 && !startsWith(data, 'OpusTags'))
        throw mediaError('FILE_INVALID', 'Opus without its tags')
      if (count >= 2 && data.length > 0) {
        sent++
        yield { data, isFirst: count === 2 }
      }
      count++
    }
  }
  if (serial === undefined) throw noOpus(files, sent)
  if (sent === 0) throw mediaError('FILE_INVALID', 'Opus without a packet')
}

/**
 * Of more channels than two, each packet is several of Opus one after the other (RFC 7845, sections 3 and 5.1.1): how many streams of them there are
 * stands behind the channel mapping family. Family 0 has one.
 */
function refuseSurround(head: Uint8Array): void {
  const [channels = 0, family = 0, streams = 0] = [head[9], head[18], head[19]]
  if (channels > 2 || (family !== 0 && streams !== 1))
    throw mediaError(
      'FILE_INVALID',
      `Opus with ${channels} channels in ${streams} streams; convert it to one or two channels`,
    )
}

const noOpus = (filesBefore: number, sent: number) =>
  mediaError(
    'FILE_INVALID',
    filesBefore === 0 ? 'there is no Opus in it' : `a file without Opus is joined to it${sentBefore(sent)}`,
  )

/** One packet, as it is put together. */
class PacketParts {
  #parts: Uint8Array[] = []
  #length = 0

  add(part: Uint8Array): void {
    this.#length += part.length
    if (this.#length > mediaLimits.maxOggPacketBytes)
      throw mediaError('FILE_INVALID', `a packet of more than ${mediaLimits.maxOggPacketBytes} bytes`)
    this.#parts.push(part)
  }

  /** Takes it, and begins the next. */
  take(): Uint8Array {
    const bytes = new Uint8Array(this.#length)
    let offset = 0
    for (const part of this.#parts) {
      bytes.set(part, offset)
      offset += part.length
    }
    this.#parts = []
    this.#length = 0
    return bytes
  }
}

/** Segments of 255 bytes go on, shorter ones end a packet. */
function* packetsOf({ lacing, body }: Page, packet: PacketParts): Generator<Uint8Array> {
  let offset = 0
  for (const length of lacing) {
    packet.add(body.subarray(offset, offset + length))
    offset += length
    if (length < 255) yield packet.take()
  }
}

/** Undefined at the end. `sent`: how many packets were before. */
async function readPage(reader: BytesReader, sent: number): Promise<Page | undefined> {
  const header = await reader.take(headerBytes)
  if (header.length === 0) return undefined
  if (header.length < headerBytes || !startsWith(header, 'OggS') || header[4] !== 0)
    throw mediaError('FILE_INVALID', 'it is not Ogg, or is damaged')
  const lacing = await reader.take(header[26] ?? 0)
  const bodyBytes = lacing.reduce((sum, length) => sum + length, 0)
  const body = await reader.take(bodyBytes)
  if (body.length < bodyBytes)
    throw mediaError('FILE_INVALID', `it is cut off within a page${sentBefore(sent)}`)
  const view = new DataView(header.buffer)
  const checksum = view.getUint32(22, true)
  view.setUint32(22, 0)
  if (crcOf(header, lacing, body) !== checksum)
    throw mediaError('FILE_INVALID', 'a page with a wrong checksum')
  return { flags: header[5] ?? 0, serial: view.getUint32(14, true), lacing, body }
}

/** Of a page with zeros in place of its checksum. */
export function crcOf(...parts: readonly Uint8Array[]): number {
  let crc = 0
  for (const part of parts)
    for (const byte of part) crc = ((crc << 8) ^ (crcTable[(crc >>> 24) ^ byte] ?? 0)) >>> 0
  return crc
}

function startsWith(bytes: Uint8Array, text: string): boolean {
  return bytes.length >= text.length && [...text].every((char, i) => bytes[i] === char.charCodeAt(0))
}
