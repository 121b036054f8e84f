import { packetBytes } from '../codec/frame.ts'
import { encodePacket } from '../codec/packet-codec.ts'
import type { Crypto } from '../ports.ts'
import type { ProtocolErrorCode } from '../errors.ts'
import { PacketType } from './packets.ts'
import { fromHex, toHex } from './plain-json.testkit.ts'
import { sampleBatches, samplePackets } from './samples.testkit.ts'

/** Bytes that must be refused, and how. `frame` goes to the frame reader and then each packet to the packet decoder. */
export interface MalformedSample {
  readonly name: string
  readonly kind: 'frame' | 'batch'
  readonly hex: string
  readonly code: ProtocolErrorCode
}

/** Made by small surgery on the valid samples, so that only what the name says is wrong. */
export function malformedSamples(crypto: Crypto): MalformedSample[] {
  return [...malformedFrames(crypto), ...malformedBatches(crypto)]
}

function malformedFrames(crypto: Crypto): MalformedSample[] {
  const packets = samplePackets(crypto)
  const hexOf = (name: string): string => {
    const found = packets.find((sample) => sample.name === name)
    if (found === undefined) throw new Error(`no sample "${name}"`)
    return toHex(encodePacket(found.packet))
  }
  const frame = (
    name: string,
    hex: string,
    code: ProtocolErrorCode = 'MALFORMED_PACKET',
  ): MalformedSample => ({
    name,
    kind: 'frame',
    hex,
    code,
  })
  const part = hexOf('leave').slice(4)
  const b = 'bb'.repeat(20)
  const body = (type: number, hex: string): string => toHex(packetBytes(type, fromHex(hex)))
  return [
    frame('an empty frame', ''),
    frame('a type without a length', '03'),
    frame('a body shorter than its length', '0304010203'),
    frame('a length with a needless byte', '03840001020304'),
    frame('a length above the limit', '03818048', 'LIMIT_EXCEEDED'),
    frame('a length of more than 53 bits', '03ffffffffffffffff7f'),
    frame('an unknown type', '7f00'),
    frame('a good packet and then half a header', `${hexOf('ping')}03`),
    frame('a ping with a byte too many', '03050102030400'),
    frame('a ping with a byte too few', '0303010203'),
    frame('a hello of version 2 that is otherwise unknown', '01020200', 'UNSUPPORTED_VERSION'),
    frame('a hello without a version', '0100'),
    frame('a hello with an unknown role', hexOf('hello of a node').replace(/^(01..01)00/, '$109')),
    frame('a close whose reason is not UTF-8', '0504014101ff'),
    frame('a close whose code is not printable', '0503010a00'),
    frame('a close whose code is too long', `0582048104${'00'.repeat(512)}`, 'LIMIT_EXCEEDED'),
    frame('a fragment without bytes', '060101'),
    frame('a fragment with an unknown flag', '06020200'),
    frame('a stream part with capitals in its owner', hexOf('leave').replace('6161', '4161')),
    frame('a stream part of partition 100', hexOf('leave').replace(/03$/, '64')),
    frame('an unknown detach reason', hexOf('detach: left').replace(/00$/, '05')),
    frame('an unknown contact flag', hexOf('node info').replace(/^(20..)03/, '$107')),
    frame('a neighbour twice in a status', body(PacketType.status, `${part}0002${b}00${b}0000`)),
    frame('a neighbour twice in an instruction', body(PacketType.instruction, `${part}0002${b}0000${b}0000`)),
    frame('65 neighbours in a status', body(PacketType.status, `${part}0041`), 'LIMIT_EXCEEDED'),
    frame('65 failures in a status', body(PacketType.status, `${part}000041`), 'LIMIT_EXCEEDED'),
    frame('65 heads in an attach', body(PacketType.attach, `${part}0041`), 'LIMIT_EXCEEDED'),
    frame('17 ICE servers', '250111', 'LIMIT_EXCEEDED'),
    frame(
      'a signal that announces more than 16 KiB',
      body(PacketType.signal, `${b}0000000000818001`),
      'LIMIT_EXCEEDED',
    ),
  ]
}

function malformedBatches(crypto: Crypto): MalformedSample[] {
  const batches = sampleBatches(crypto).map(({ batch }) => batch)
  const sampleAt = (index: number) => {
    const batch = batches[index]
    if (batch === undefined) throw new Error(`no batch ${index}`)
    return batch
  }
  const one = sampleAt(0)
  const two = sampleAt(2)
  const encrypted = sampleAt(6)
  const change = (
    name: string,
    source: { bytes: Uint8Array },
    at: number,
    hex: string,
    code: ProtocolErrorCode = 'MALFORMED_PACKET',
  ): MalformedSample => {
    const bytes = source.bytes.slice()
    bytes.set(fromHex(hex), at)
    return { name, kind: 'batch', hex: toHex(bytes), code }
  }
  const whole = toHex(one.bytes)
  const countAt = one.headerEnd
  const messageAt = countAt + 2
  const secondAt = two.messageOffsets[2] as number
  const encryptedAt = encrypted.messageOffsets[0] as number
  const signatureAt = one.bytes.length - 66
  return [
    { name: 'no bytes', kind: 'batch', hex: '', code: 'MALFORMED_PACKET' },
    change('batch version 2', one, 0, '02', 'UNSUPPORTED_VERSION'),
    change('a stream id above its limit', one, 1, 'f4', 'LIMIT_EXCEEDED'),
    change('a stream id without 0x', one, 2, '3178'),
    change('partition 100', one, 2 + (one.bytes[1] as number), '64'),
    change('no messages', one, countAt, '0000'),
    change('257 messages', one, countAt, '0101', 'LIMIT_EXCEEDED'),
    change('more messages than there are', one, countAt, '0002'),
    change('an unknown message flag', one, messageAt, '04'),
    change('a sequence number with a needless byte', one, messageAt + 7, '8000'),
    change('a second message that does not name the first', two, secondAt + 8, '000000000000'),
    change('a second message that names itself', two, secondAt + 14, '01'),
    change('a second message before the first', two, secondAt + 1, '000000000000'),
    change('an encrypted message with encryption type 0', encrypted, encryptedAt + 9, '00'),
    change('a group key id above its limit', encrypted, encryptedAt + 10, '41', 'LIMIT_EXCEEDED'),
    change('content above its limit', one, messageAt + 9, '818040', 'LIMIT_EXCEEDED'),
    change('signature type 2', one, signatureAt, '02', 'UNSUPPORTED_VERSION'),
    { name: 'a byte too few', kind: 'batch', hex: whole.slice(0, -2), code: 'MALFORMED_PACKET' },
    { name: 'a byte too many', kind: 'batch', hex: `${whole}00`, code: 'MALFORMED_PACKET' },
  ]
}
