import { encodeDelegation, type DelegationClaim } from '../delegation/delegation.ts'
import { encodeCard } from '../encryption/card.ts'
import { packetBytes } from '../codec/frame.ts'
import { encodePacket } from '../codec/packet-codec.ts'
import { limits } from '../limits.ts'
import type { Crypto } from '../ports.ts'
import type { ProtocolErrorCode } from '../errors.ts'
import { PacketType } from './packet-table.ts'
import { fromHex, toHex } from './plain-json.testkit.ts'
import {
  sampleBatches,
  sampleCard,
  sampleDelegation,
  samplePackets,
  urgentSample,
} from './samples.testkit.ts'
import type { MessageBatch } from './stream-message.ts'
import { urgentExtension } from './urgent.ts'

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

function frame(name: string, hex: string, code: ProtocolErrorCode = 'MALFORMED_PACKET'): MalformedSample {
  return { name, kind: 'frame', hex, code }
}

function body(type: number, hex: string): string {
  return toHex(packetBytes(type, fromHex(hex)))
}

function malformedDelegations(crypto: Crypto): MalformedSample[] {
  const of = (changes: Partial<DelegationClaim>): string => {
    const good = sampleDelegation(crypto)
    const text = toHex(encodeDelegation(good))
    const times = (claim: DelegationClaim): string =>
      [claim.fromMs, claim.untilMs].map((ms) => ms.toString(16).padStart(12, '0')).join('')
    return text.replace(times(good), times({ ...good, ...changes }))
  }
  const hex = of({})
  const streamsAt = hex.indexOf('030013')
  const delegation = (name: string, text: string, code?: ProtocolErrorCode): MalformedSample =>
    frame(`a delegation ${name}`, body(PacketType.delegation, text), code)
  const list = (count: number): string =>
    `03${count.toString(16).padStart(2, '0')}${`2c${toHex(new TextEncoder().encode(`0x${'a'.repeat(40)}/b`))}`.repeat(count)}`
  return [
    delegation('of a later version', `02${hex.slice(2)}`, 'UNSUPPORTED_VERSION'),
    delegation('that ends when it begins', of({ untilMs: sampleDelegation(crypto).fromMs })),
    delegation('of nothing', `${hex.slice(0, streamsAt)}00${hex.slice(streamsAt + 2)}`),
    delegation('of rights that nobody knows', `${hex.slice(0, streamsAt)}04${hex.slice(streamsAt + 2)}`),
    delegation(
      'that names a stream twice',
      `${hex.slice(0, streamsAt)}${list(2)}${hex.slice(streamsAt + 4)}`,
    ),
    delegation(
      'of too many streams',
      `${hex.slice(0, streamsAt)}${list(9)}${hex.slice(streamsAt + 4)}`,
      'LIMIT_EXCEEDED',
    ),
    delegation('with a byte too many', `${hex}00`),
    frame('an ask for a delegation that names none', body(PacketType.askDelegation, '00'.repeat(15))),
  ]
}

function malformedCards(crypto: Crypto): MalformedSample[] {
  const hex = toHex(encodeCard(sampleCard(crypto)))
  const keep = (name: string, text: string, code?: ProtocolErrorCode) =>
    frame(`a card ${name}`, body(PacketType.keepCard, `${requestId}${text}`), code)
  const signature = hex.slice(-132)
  const b = 'bb'.repeat(20)
  return [
    keep('of a later version', `02${hex.slice(2)}`, 'UNSUPPORTED_VERSION'),
    keep('with a byte too many', `${hex}00`),
    keep('that ends in its key', hex.slice(0, -134)),
    keep('whose signature is too long', `${hex.slice(0, -132)}8110`, 'LIMIT_EXCEEDED'),
    keep('whose signature has a needless length byte', `${hex.slice(0, -132)}c100${signature.slice(2)}`),
    frame('an ask for 65 cards', body(PacketType.askCards, `${requestId}41`), 'LIMIT_EXCEEDED'),
    frame('an ask for the card of a user twice', body(PacketType.askCards, `${requestId}02${b}${b}`)),
    frame('65 cards', body(PacketType.cards, `${requestId}41`), 'LIMIT_EXCEEDED'),
    frame('two cards of one user', body(PacketType.cards, `${requestId}02${hex}${hex}`)),
  ]
}

function malformedFrames(crypto: Crypto): MalformedSample[] {
  const packets = samplePackets(crypto)
  const hexOf = (name: string): string => {
    const found = packets.find((sample) => sample.name === name)
    if (found === undefined) throw new Error(`no sample "${name}"`)
    return toHex(encodePacket(found.packet))
  }
  const part = hexOf('leave').slice(4)
  const b = 'bb'.repeat(20)
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
    frame('a hello of version 1', '01020100', 'UNSUPPORTED_VERSION'),
    frame('a hello of version 2', '01020200', 'UNSUPPORTED_VERSION'),
    frame('a hello of versions 4 and 5 that is otherwise unknown', '01020405', 'UNSUPPORTED_VERSION'),
    frame('a hello without a version', '0100'),
    frame('a hello with an unknown role', hexOf('hello of a node').replace(/^(01..0303)00/, '$109')),
    ...malformedDelegations(crypto),
    ...malformedCards(crypto),
    frame('a kind of transport with a capital', hexOf('node info').replace('77656273', '57656273')),
    frame('a kind of transport without a name', body(PacketType.nodeInfo, '010000')),
    frame(
      'a kind of transport of 17 letters',
      body(PacketType.nodeInfo, `0111${'61'.repeat(17)}`),
      'LIMIT_EXCEEDED',
    ),
    frame('nine kinds of transport', body(PacketType.nodeInfo, '09'), 'LIMIT_EXCEEDED'),
    frame('nine addresses', body(PacketType.nodeInfo, '0009'), 'LIMIT_EXCEEDED'),
    frame('a close whose reason is not UTF-8', '0504014101ff'),
    frame('a close whose code is not printable', '0503010a00'),
    frame('a close whose code is too long', `0582048104${'00'.repeat(512)}`, 'LIMIT_EXCEEDED'),
    frame('a fragment without bytes', '060101'),
    frame('a fragment with an unknown flag', '06020200'),
    frame('a stream part with capitals in its owner', hexOf('leave').replace('6161', '4161')),
    frame('a stream part of partition 101', hexOf('leave').replace(/03$/, '65')),
    frame('an unknown detach reason', hexOf('detach: left').replace(/00$/, '06')),
    frame('a neighbour twice in a status', body(PacketType.status, `${part}0002${b}00${b}0000`)),
    frame('a neighbour twice in an instruction', body(PacketType.instruction, `${part}0002${b}0000${b}0000`)),
    frame('65 neighbours in a status', body(PacketType.status, `${part}0041`), 'LIMIT_EXCEEDED'),
    frame('65 failures in a status', body(PacketType.status, `${part}000041`), 'LIMIT_EXCEEDED'),
    frame('a full status without transports', body(PacketType.fullStatus, `${part}0001${b}00000000`)),
    frame('a full status with one too many', body(PacketType.fullStatus, `${part}0001${b}000000000102`)),
    frame('a node that is nothing', body(PacketType.about, '000000')),
    frame('a node with a capital', hexOf('about a node').replace('73746f', '53746f')),
    frame('a node of 17 letters', body(PacketType.about, `11${'61'.repeat(17)}0000`), 'LIMIT_EXCEEDED'),
    frame('a version of 33 bytes', body(PacketType.about, `016121${'31'.repeat(33)}00`), 'LIMIT_EXCEEDED'),
    frame('a name of 65 bytes', body(PacketType.about, `01610041${'61'.repeat(65)}`), 'LIMIT_EXCEEDED'),
    frame('a name that moves the cursor', body(PacketType.about, '016100041b5b3241')),
    frame('a name that is not ASCII', body(PacketType.about, '01610002c3a9')),
    frame('an ask for the count of nothing', body(PacketType.askCount, requestId)),
    frame('a count without feeders', body(PacketType.count, `${requestId}02`)),
    frame('a count with one number too many', body(PacketType.count, `${requestId}020101`)),
    frame('a count of 2^32', body(PacketType.count, `${requestId}808080801000`)),
    frame('a flood mode that nobody knows', hexOf('thin: eager').replace(/000000$/, '000300')),
    frame('floods that are thin for more than a minute', hexOf('thin: digest').replace(/e0d403$/, 'e1d403')),
    frame('a digest of nothing', body(PacketType.digest, '00')),
    frame('a digest of 257 batches', body(PacketType.digest, '8102'), 'LIMIT_EXCEEDED'),
    frame('a digest of a batch before time began', body(PacketType.digest, '0100010000000000')),
    frame('65 heads in an attach', body(PacketType.attach, `${part}0041`), 'LIMIT_EXCEEDED'),
    frame('65 heads in a guest attach', body(PacketType.guestAttach, `${part}0041`), 'LIMIT_EXCEEDED'),
    frame('17 ICE servers', '250111', 'LIMIT_EXCEEDED'),
    frame(
      'a signal that announces more than 16 KiB',
      body(PacketType.signal, `${b}0000000000818001`),
      'LIMIT_EXCEEDED',
    ),
    ...malformedUrgentFrames(crypto),
    ...malformedGapFrames(part, b),
    ...malformedStorageFrames(part, b),
  ]
}

/** The place of a timestamp and a sequence number below 128. */
const place = (timestamp: number, sequenceNumber: number): string =>
  timestamp.toString(16).padStart(12, '0') + sequenceNumber.toString(16).padStart(2, '0')
const requestId = '00000007'

function malformedUrgentFrames(crypto: Crypto): MalformedSample[] {
  const urgent = (name: string, batch: MessageBatch, remaining = '0a', alias = '00'): MalformedSample =>
    frame(name, body(PacketType.urgent, `${remaining}${alias}${toHex(batch.bytes)}`))
  const { batch } = urgentSample(crypto)
  const previous = { timestamp: 5, sequenceNumber: 0 }
  const withFields = (hex: string) =>
    urgentSample(crypto, { extensions: [{ type: urgentExtension, bytes: fromHex(hex) }] }).batch
  const [ordinary] = sampleBatches(crypto)
  return [
    urgent('an urgent message with more left than its lifetime', batch, 'ad02'),
    urgent('an urgent message with more left than any may have', batch, 'e1d403'),
    urgent('an alias outside of its link', batch, '0a', '0100'),
    frame('a header longer than its batch', body(PacketType.urgent, '0a010201')),
    frame('a header above its limit', body(PacketType.urgent, '0a018104'), 'MALFORMED_PACKET'),
    frame('257 arrivals', body(PacketType.arrivals, '008102'), 'LIMIT_EXCEEDED'),
    frame('an arrival twice', body(PacketType.arrivals, '000201000000')),
    frame('an arrival before time began', body(PacketType.arrivals, '00010101')),
    frame('an arrival above all numbers', body(PacketType.arrivals, '0002ffffffff0f000100')),
    ...(ordinary === undefined ? [] : [urgent('an ordinary message as an urgent one', ordinary.batch)]),
    urgent('an urgent message with a previous one', urgentSample(crypto, { previous }).batch),
    urgent('an urgent message that does not say how', urgentSample(crypto, { extensions: undefined }).batch),
    urgent('an urgent message without a lifetime', withFields('0014070100')),
    urgent('an urgent message of more than a minute', withFields('e1d40314070100')),
    urgent('an urgent message in an unknown order', withFields('ac0214070103')),
    urgent('an urgent message that says too much', withFields('ac021407010000')),
    frame('a piece behind the last', body(PacketType.piece, '050202ac0200')),
    frame('one of 65 pieces', body(PacketType.piece, '050041ac0200')),
    frame('a piece of nothing', body(PacketType.piece, '050002ac02')),
    frame('an urgent digest of nothing', body(PacketType.urgentDigest, '00')),
    frame('an urgent digest of 257 messages', body(PacketType.urgentDigest, '8102'), 'LIMIT_EXCEEDED'),
    frame('an urgent pull of nothing', body(PacketType.urgentPull, '00')),
    frame('an urgent pull of a message before time began', body(PacketType.urgentPull, '01000100')),
  ]
}

function malformedGapFrames(part: string, b: string): MalformedSample[] {
  const fetch = (ranges: string) => body(PacketType.fetch, `${requestId}${part}${b}0163${ranges}`)
  return [
    frame('a fetch without ranges', fetch('00')),
    frame('65 ranges in a fetch', fetch('41'), 'LIMIT_EXCEEDED'),
    frame('fewer ranges in a fetch than it says', fetch(`02${place(1, 0)}${place(2, 0)}`)),
    frame('a missing range that ends where it begins', fetch(`01${place(1, 1)}${place(1, 1)}`)),
    frame('a missing range that ends before it begins', fetch(`01${place(1, 1)}${place(1, 0)}`)),
    frame('missing ranges that overlap', fetch(`02${place(1, 0)}${place(3, 0)}${place(2, 0)}${place(4, 0)}`)),
    frame('missing ranges out of order', fetch(`02${place(3, 0)}${place(4, 0)}${place(1, 0)}${place(2, 0)}`)),
    frame('the same missing range twice', fetch(`02${`${place(1, 0)}${place(2, 0)}`.repeat(2)}`)),
    frame(
      'a message chain id above its limit',
      body(PacketType.fetch, `${requestId}${part}${b}21${'63'.repeat(33)}`),
      'LIMIT_EXCEEDED',
    ),
    frame('a fetched that is neither complete nor not', body(PacketType.fetched, `${requestId}02`)),
    frame(
      'an ask for the newest message of a key that is cut',
      body(PacketType.askLatest, `${requestId}${part}01${'07'.repeat(15)}`),
    ),
    frame(
      'a latest with a batch that is none',
      body(PacketType.latest, `${requestId}00`),
      'UNSUPPORTED_VERSION',
    ),
    frame('65 heads in a heads', body(PacketType.heads, `${part}41`), 'LIMIT_EXCEEDED'),
  ]
}

function malformedStorageFrames(part: string, b: string): MalformedSample[] {
  const resend = (selection: string, chain = '0000', end = '0001000000') =>
    body(PacketType.resend, `${requestId}${part}${selection}${chain}${end}`)
  const start = (rest: string) => body(PacketType.resendStart, `${requestId}${rest}`)
  const awaitStored = (token: string) =>
    body(PacketType.awaitStored, `${requestId}${part}${b}0163${place(1, 0)}${token}`)
  return [
    frame('a storing that is neither yes nor no', body(PacketType.storing, `${part}02`)),
    frame('17 storage nodes', body(PacketType.storageNodes, `${requestId}${part}11`), 'LIMIT_EXCEEDED'),
    frame('a storage node twice', body(PacketType.storageNodes, `${requestId}${part}02${b}0000${b}0000`)),
    frame('a resend of the last 0', resend('0000')),
    frame('a resend of the last 10,000,001', resend('0081ade204'), 'LIMIT_EXCEEDED'),
    frame('an unknown kind of resend', resend(`02${place(1, 0)}${place(2, 0)}`)),
    frame('a resend from a place to one before it', resend(`01${place(2, 0)}${place(1, 9)}`)),
    frame('a resend with an unknown flag for a publisher', resend('0001', '0200')),
    frame('a resend of a message chain without its publisher', resend('0001', '00010163')),
    frame('a resend with half an access token', resend('0001', '0000', `0001000001${b}`)),
    frame('a resend start from a place to one before it', start(`${place(2, 0)}${place(1, 9)}00`)),
    frame(
      'a resend start of 10,000,001 messages',
      start(`${place(1, 0)}${place(2, 0)}81ade204`),
      'LIMIT_EXCEEDED',
    ),
    frame('resend data without a batch', body(PacketType.resendData, requestId)),
    frame(
      'resend data with a batch of version 2',
      body(PacketType.resendData, `${requestId}02`),
      'UNSUPPORTED_VERSION',
    ),
    frame('a resend more with a byte too few', body(PacketType.resendMore, `${requestId}010203`)),
    frame('a resend end whose code is not printable', body(PacketType.resendEnd, `${requestId}010a00`)),
    frame('a resend end whose text is not UTF-8', body(PacketType.resendEnd, `${requestId}0001ff`)),
    frame('a resend cancel with a byte too many', body(PacketType.resendCancel, `${requestId}00`)),
    frame('an await stored with an unknown flag for a token', awaitStored('02')),
    frame('a stored whose code is too long', body(PacketType.stored, `${requestId}8104`), 'LIMIT_EXCEEDED'),
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
  const tooLateMs = (two.messages[0]?.timestamp ?? 0) + limits.maxBatchSpanMs + 1
  const tooLate = tooLateMs.toString(16).padStart(12, '0')
  const encryptedAt = encrypted.messageOffsets[0] as number
  const signatureAt = one.bytes.length - 66
  return [
    { name: 'no bytes', kind: 'batch', hex: '', code: 'MALFORMED_PACKET' },
    change('batch version 2', one, 0, '02', 'UNSUPPORTED_VERSION'),
    change('a stream id above its limit', one, 1, 'f4', 'LIMIT_EXCEEDED'),
    change('a stream id without 0x', one, 2, '3178'),
    change('partition 101', one, 2 + (one.bytes[1] as number), '65'),
    change('no messages', one, countAt, '0000'),
    change('257 messages', one, countAt, '0101', 'LIMIT_EXCEEDED'),
    change('more messages than there are', one, countAt, '0002'),
    change('an unknown message flag', one, messageAt, '08'),
    change('a sequence number with a needless byte', one, messageAt + 7, '8000'),
    change('a second message that does not name the first', two, secondAt + 8, '000000000000'),
    change('a second message that names itself', two, secondAt + 14, '01'),
    change('a second message before the first', two, secondAt + 1, '000000000000'),
    change('messages further apart than a batch may last', two, secondAt + 1, tooLate, 'LIMIT_EXCEEDED'),
    change('an encrypted message with encryption type 0', encrypted, encryptedAt + 9, '00'),
    change('a group key id above its limit', encrypted, encryptedAt + 10, '41', 'LIMIT_EXCEEDED'),
    change('content above its limit', one, messageAt + 9, '818040', 'LIMIT_EXCEEDED'),
    change('signature type 3', one, signatureAt, '03', 'UNSUPPORTED_VERSION'),
    { name: 'a byte too few', kind: 'batch', hex: whole.slice(0, -2), code: 'MALFORMED_PACKET' },
    { name: 'a byte too many', kind: 'batch', hex: `${whole}00`, code: 'MALFORMED_PACKET' },
  ]
}
