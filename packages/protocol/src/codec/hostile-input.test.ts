import { expect, it } from 'vitest'
import { loadCrypto } from '../crypto/load-crypto.ts'
import { RunnelError } from '../errors.ts'
import { decodeBatch, writeUnsignedBatch } from '../messages/batch-codec.ts'
import { PacketType, type Packet } from '../messages/packet-table.ts'
import { toHex } from '../messages/plain-json.testkit.ts'
import { sampleBatches, samplePackets } from '../messages/samples.testkit.ts'
import type { Random } from '../ports.ts'
import { seededRandom } from '../random/seeded-random.ts'
import { forEachPacket } from './frame.ts'
import { decodePacket, encodePacket } from './packet-codec.ts'
import { Writer } from './writer.ts'

/** Together more than a million inputs. */
const runs = { randomBodies: 300_000, mutatedFrames: 450_000, mutatedBatches: 300_000 }

const crypto = await loadCrypto()
const types = Object.values(PacketType)

function pick<T>(items: readonly T[], random: Random): T {
  return items[Math.floor(random.next() * items.length)] as T
}

/** One to three of: a bit flipped, a byte replaced, the end cut off, a piece of another valid input put in. */
function mutate(valid: Uint8Array, others: readonly Uint8Array[], random: Random): Uint8Array {
  let bytes: Uint8Array = valid.slice()
  for (let left = 1 + Math.floor(random.next() * 3); left > 0 && bytes.length > 0; left--) {
    const at = Math.floor(random.next() * bytes.length)
    const choice = random.next()
    if (choice < 0.4) bytes[at] = (bytes[at] as number) ^ (1 << Math.floor(random.next() * 8))
    else if (choice < 0.7) bytes[at] = Math.floor(random.next() * 256)
    else if (choice < 0.85) bytes = bytes.slice(0, at)
    else bytes = splice(bytes, at, pick(others, random), random)
  }
  return bytes
}

function splice(bytes: Uint8Array, at: number, other: Uint8Array, random: Random): Uint8Array {
  const from = Math.floor(random.next() * other.length)
  const piece = other.subarray(from, from + Math.floor(random.next() * 40))
  const kept = bytes.subarray(at + (random.next() < 0.5 ? piece.length : 0))
  const result = new Uint8Array(at + piece.length + kept.length)
  result.set(bytes.subarray(0, at))
  result.set(piece, at)
  result.set(kept, at + piece.length)
  return result
}

/** What was accepted and refused. Anything thrown but a RunnelError ends the test, with the input. */
function count(inputs: number, next: () => Uint8Array, attempt: (bytes: Uint8Array) => void) {
  const outcome = { accepted: 0, refused: 0 }
  for (let i = 0; i < inputs; i++) {
    const bytes = next()
    try {
      attempt(bytes)
      outcome.accepted++
    } catch (error) {
      if (!(error instanceof RunnelError)) throw new Error(`input ${toHex(bytes)}`, { cause: error })
      outcome.refused++
    }
  }
  return outcome
}

/** There is one encoding of everything: what is accepted encodes to the bytes it came from. */
function expectSameBytes(actual: Uint8Array, expected: Uint8Array): void {
  if (Buffer.compare(actual, expected) !== 0)
    throw new Error(`${toHex(expected)} came back as ${toHex(actual)}`)
}

it('makes of random bodies a packet or a RunnelError', () => {
  const random = seededRandom('random bodies')
  const outcome = count(
    runs.randomBodies,
    () => random.bytes(1 + Math.floor(random.next() ** 3 * 200)),
    (bytes) =>
      void decodePacket(bytes[0] === 0 ? pick([0, 7, 0x38, 255], random) : pick(types, random), bytes),
  )
  expect(outcome.accepted).toBeGreaterThan(0)
  expect(outcome.refused).toBeGreaterThan(0)
})

it('makes of mutated frames packets or a RunnelError, and what it accepts has one encoding', () => {
  const random = seededRandom('mutated frames')
  const packets = samplePackets(crypto).map(({ packet }) => encodePacket(packet))
  const outcome = count(
    runs.mutatedFrames,
    () => mutate(pick(packets, random), packets, random),
    (frame) =>
      forEachPacket(frame, (type, body, whole) => {
        const packet: Packet = decodePacket(type, body)
        expectSameBytes(encodePacket(packet), whole)
      }),
  )
  expect(outcome.accepted).toBeGreaterThan(runs.mutatedFrames / 20)
  expect(outcome.refused).toBeGreaterThan(runs.mutatedFrames / 20)
})

it('makes of mutated batches a batch or a RunnelError, and what it accepts has one encoding', () => {
  const random = seededRandom('mutated batches')
  const batches = sampleBatches(crypto).map(({ batch }) => batch.bytes)
  const writer = new Writer()
  const outcome = count(
    runs.mutatedBatches,
    () => mutate(pick(batches, random), batches, random),
    (bytes) => {
      const { chain, messages, delegationRef } = decodeBatch(bytes)
      writer.reset()
      writeUnsignedBatch(writer, chain, messages)
      expectSameBytes(
        writer.view(),
        bytes.subarray(0, bytes.length - (delegationRef === undefined ? 66 : 82)),
      )
    },
  )
  expect(outcome.accepted).toBeGreaterThan(runs.mutatedBatches / 20)
  expect(outcome.refused).toBeGreaterThan(runs.mutatedBatches / 20)
})
