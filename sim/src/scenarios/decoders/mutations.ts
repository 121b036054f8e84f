import { packetBytes, type Random } from '@runnel/protocol'

/** Bytes that look like one thing and are another, made of valid ones. */
type Mutation = (bytes: Uint8Array, others: readonly Uint8Array[], random: Random) => Uint8Array

/** Each on its own; several may come together. */
const mutations = {
  flipBit,
  replaceByte,
  cutEnd,
  cutOut,
  repeatPiece,
  splice,
  extremeVarint,
  extremeInteger,
  wrongLength,
  otherType,
  nest,
  append,
} as const satisfies Record<string, Mutation>

const all = Object.values(mutations)
const mostAtOnce = 3
const longestPiece = 40

/** Varints at the edges of 7, 16, 32 and 53 bits, one too long, and one with needless bytes. */
const varints = [
  [0x00],
  [0x7f],
  [0x80, 0x01],
  [0xff, 0xff, 0x03],
  [0xff, 0xff, 0xff, 0xff, 0x0f],
  [0x80, 0x80, 0x80, 0x80, 0x10],
  [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x0f],
  [0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x10],
  [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01],
  [0x80, 0x00],
]
const integerBytes = [1, 2, 4, 6, 8]

/** A frame of one or a few valid packets, with one to three things wrong with it. */
export function mutatedFrame(packets: readonly Uint8Array[], random: Random): Uint8Array {
  let bytes = pick(packets, random)
  for (let left = below(4, random); left > 0 && random.next() < 0.3; left--)
    bytes = joined(bytes, pick(packets, random))
  for (let left = 1 + below(mostAtOnce, random); left > 0 && bytes.length > 0; left--)
    bytes = pick(all, random)(bytes, packets, random)
  return bytes
}

function flipBit(bytes: Uint8Array, _: readonly Uint8Array[], random: Random): Uint8Array {
  const copy = bytes.slice()
  const at = below(copy.length, random)
  copy[at] = (copy[at] as number) ^ (1 << below(8, random))
  return copy
}

function replaceByte(bytes: Uint8Array, _: readonly Uint8Array[], random: Random): Uint8Array {
  const copy = bytes.slice()
  copy[below(copy.length, random)] = below(256, random)
  return copy
}

function cutEnd(bytes: Uint8Array, _: readonly Uint8Array[], random: Random): Uint8Array {
  return bytes.slice(0, below(bytes.length, random))
}

function cutOut(bytes: Uint8Array, _: readonly Uint8Array[], random: Random): Uint8Array {
  const at = below(bytes.length, random)
  return joined(bytes.subarray(0, at), bytes.subarray(at + below(longestPiece, random)))
}

function repeatPiece(bytes: Uint8Array, _: readonly Uint8Array[], random: Random): Uint8Array {
  const at = below(bytes.length, random)
  const end = at + below(longestPiece, random)
  return joined(bytes.subarray(0, end), bytes.subarray(at))
}

function splice(bytes: Uint8Array, others: readonly Uint8Array[], random: Random): Uint8Array {
  const other = pick(others, random)
  const from = below(other.length, random)
  const piece = other.subarray(from, from + below(longestPiece, random))
  return replaced(bytes, below(bytes.length, random), random.next() < 0.5 ? piece.length : 0, piece)
}

function extremeVarint(bytes: Uint8Array, _: readonly Uint8Array[], random: Random): Uint8Array {
  return replaced(bytes, below(bytes.length, random), 1, Uint8Array.from(pick(varints, random)))
}

function extremeInteger(bytes: Uint8Array, _: readonly Uint8Array[], random: Random): Uint8Array {
  const length = pick(integerBytes, random)
  const piece = new Uint8Array(length).fill(random.next() < 0.5 ? 0 : 0xff)
  if (random.next() < 0.3) piece[0] = 0x80
  return replaced(bytes, below(bytes.length, random), length, piece)
}

/** The first packet says that it is longer or shorter than it is. */
function wrongLength(bytes: Uint8Array, _: readonly Uint8Array[], random: Random): Uint8Array {
  const lie = random.next() < 0.5 ? [below(0x80, random)] : pick(varints, random)
  let end = 1
  while (end < bytes.length && (bytes[end] as number) >= 0x80) end++
  return replaced(bytes, 1, end, Uint8Array.from(lie))
}

function otherType(bytes: Uint8Array, _: readonly Uint8Array[], random: Random): Uint8Array {
  const copy = bytes.slice()
  copy[0] = below(random.next() < 0.8 ? 0x60 : 256, random)
  return copy
}

/** Wraps the whole packet as the body of another. */
function nest(bytes: Uint8Array, others: readonly Uint8Array[], random: Random): Uint8Array {
  return packetBytes(pick(others, random)[0] ?? 0, bytes)
}

function append(bytes: Uint8Array, _: readonly Uint8Array[], random: Random): Uint8Array {
  return joined(bytes, random.bytes(1 + below(longestPiece, random)))
}

function replaced(bytes: Uint8Array, at: number, length: number, piece: Uint8Array): Uint8Array {
  return joined(bytes.subarray(0, at), piece, bytes.subarray(at + length))
}

function joined(...pieces: readonly Uint8Array[]): Uint8Array {
  const result = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const piece of pieces) {
    result.set(piece, at)
    at += piece.length
  }
  return result
}

function pick<T>(items: readonly T[], random: Random): T {
  return items[below(items.length, random)] as T
}

function below(end: number, random: Random): number {
  return Math.floor(random.next() * end)
}
