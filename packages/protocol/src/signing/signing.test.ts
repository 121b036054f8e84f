import { beforeAll, describe, expect, it } from 'vitest'
import batchVectors from '../../vectors/batches.json' with { type: 'json' }
import handshakeVectors from '../../vectors/handshake.json' with { type: 'json' }
import { decodePacket } from '../codec/packet-codec.ts'
import { createIdentity, parsePrivateKey } from '../crypto/identity.ts'
import { loadCrypto } from '../crypto/load-crypto.ts'
import { nodeIdFromBytes } from '../ids/node-id.ts'
import { toStreamId } from '../ids/stream-id.ts'
import { decodeBatch } from '../messages/batch-codec.ts'
import { PacketType } from '../messages/packet-table.ts'
import type { Hello } from '../messages/packets/link.ts'
import { fromHex, toHex } from '../messages/plain-json.testkit.ts'
import { sampleDraft, sampleIdentity } from '../messages/samples.testkit.ts'
import type { Crypto } from '../ports.ts'
import { batchDigest, verifyBatch } from './batch-signature.ts'
import { buildBatch } from './build-batch.ts'
import { handshakeDigest, type HandshakeClaim } from './handshake.ts'
import { merkleRoot } from './merkle.ts'

let crypto: Crypto
beforeAll(async () => {
  crypto = await loadCrypto()
})

/** MTH of RFC 6962, section 2.1, as it is written there, over leaf hashes. */
function rfc6962Root(leaves: readonly Uint8Array[]): Uint8Array {
  if (leaves.length === 1) return leaves[0] as Uint8Array
  let split = 1
  while (split * 2 < leaves.length) split *= 2
  return crypto.keccak256(
    Uint8Array.of(1),
    rfc6962Root(leaves.slice(0, split)),
    rfc6962Root(leaves.slice(split)),
  )
}

describe('merkleRoot', () => {
  it('has the shape of RFC 6962 for every size of a batch', () => {
    const leaves: Uint8Array[] = []
    for (let size = 1; size <= 256; size++) {
      leaves.push(crypto.keccak256(Uint8Array.of(size, size >> 8)))
      expect(toHex(merkleRoot(leaves, crypto))).toBe(toHex(rfc6962Root(leaves)))
    }
  })
})

describe('the signature of a batch', () => {
  it.each(batchVectors)('is as in the vector "$name"', (vector) => {
    const batch = decodeBatch(fromHex(vector.hex))
    expect(toHex(batchDigest(batch, crypto))).toBe(vector.digestHex)
    const identity = createIdentity(parsePrivateKey(vector.privateKey), crypto)
    expect(toHex(identity.sign(fromHex(vector.digestHex)))).toBe(vector.signatureHex)
    expect(verifyBatch(batch, crypto, identity.nodeId)).toBe(true)
  })

  it('covers every bit but those of itself, which then are another signature', () => {
    const { bytes } = decodeBatch(fromHex(batchVectors[2]?.hex ?? ''))
    let decodable = 0
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const changed = bytes.slice()
      changed[bit >> 3] = (changed[bit >> 3] as number) ^ (1 << (bit & 7))
      let batch
      try {
        batch = decodeBatch(changed)
      } catch {
        continue
      }
      decodable++
      expect(verifyBatch(batch, crypto), `bit ${bit}`).toBe(false)
    }
    expect(decodable).toBeGreaterThan(1000)
  })

  it('is worth nothing by another key than the publisher of the chain', () => {
    const publisherId = sampleIdentity(crypto, 0).nodeId
    const chain = {
      streamId: toStreamId(`${publisherId}/a`),
      partition: 0,
      publisherId,
      messageChainId: 'chain',
    }
    const draft = { chain, messages: [sampleDraft(0)] }
    expect(verifyBatch(buildBatch(draft, crypto, sampleIdentity(crypto, 1)), crypto)).toBe(false)
    expect(verifyBatch(buildBatch(draft, crypto, sampleIdentity(crypto, 0)), crypto)).toBe(true)
  })
})

describe('handshakeDigest', () => {
  const toClaim = (json: (typeof handshakeVectors)[number]['claim']): HandshakeClaim => ({
    prover: json.prover as HandshakeClaim['prover'],
    hellos: {
      dialler: fromHex(json.hellos.dialler.hex),
      listener: fromHex(json.hellos.listener.hex),
    },
    binding: fromHex(json.binding.hex),
  })

  it.each(handshakeVectors)('is as in the vector "$name"', ({ claim, digestHex, signatureHex }) => {
    const { prover, hellos, binding } = toClaim(claim)
    expect(toHex(handshakeDigest({ prover, hellos, binding }, crypto))).toBe(digestHex)
    const address = crypto.recover(fromHex(digestHex), fromHex(signatureHex))
    expect(address && nodeIdFromBytes(address)).toBe(
      (decodePacket(PacketType.hello, hellos[prover]) as Hello).nodeId,
    )
  })

  it('is another one for every field, and for bytes moved from one field to the next', () => {
    const claim = toClaim(handshakeVectors[0]?.claim as (typeof handshakeVectors)[number]['claim'])
    const { dialler, listener } = claim.hellos
    const claims: HandshakeClaim[] = [
      claim,
      { ...claim, prover: 'listener' },
      { ...claim, hellos: { dialler: listener, listener: dialler } },
      { ...claim, hellos: { dialler, listener: dialler } },
      { ...claim, hellos: { dialler: dialler.subarray(1), listener } },
      {
        ...claim,
        hellos: { dialler: Uint8Array.of(...dialler, listener[0] ?? 0), listener: listener.subarray(1) },
      },
      { ...claim, binding: Uint8Array.of(0) },
      { ...claim, binding: Uint8Array.of(0, 0) },
      {
        ...claim,
        hellos: { dialler, listener: listener.subarray(0, -1) },
        binding: listener.subarray(-1),
      },
    ]
    expect(new Set(claims.map((each) => toHex(handshakeDigest(each, crypto)))).size).toBe(claims.length)
  })
})
