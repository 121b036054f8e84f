import { describe, expect, it } from 'vitest'
import vectors from '../../vectors/membership.json' with { type: 'json' }
import { createIdentity, parsePrivateKey } from '../crypto/identity.ts'
import { loadCrypto } from '../crypto/load-crypto.ts'
import { toNodeId } from '../ids/node-id.ts'
import { fromHex, toHex } from '../messages/plain-json.testkit.ts'
import { sampleIdentity } from '../messages/samples.testkit.ts'
import { membershipDigest, signMembership, verifyMembership } from './membership.ts'

const crypto = await loadCrypto()
const user = sampleIdentity(crypto, 0)
const { nodeId } = sampleIdentity(crypto, 1)
const other = sampleIdentity(crypto, 2).nodeId
const expiresMs = 1_000_000
const token = signMembership({ nodeId, expiresMs }, crypto, user)

describe('a membership', () => {
  it.each(vectors)('is as in the vector "$name"', ({ claim, privateKey, digestHex, signatureHex }) => {
    const of = {
      userId: toNodeId(claim.userId),
      nodeId: toNodeId(claim.nodeId),
      expiresMs: claim.expiresMs,
    }
    expect(toHex(membershipDigest(of, crypto))).toBe(digestHex)
    const signed = signMembership(of, crypto, createIdentity(parsePrivateKey(privateKey), crypto))
    expect(signed).toEqual({
      userId: of.userId,
      expiresMs: of.expiresMs,
      signature: fromHex(signatureHex),
    })
    expect(verifyMembership(signed, of.nodeId, of.expiresMs - 1, crypto)).toBe(true)
  })

  it('is good until it expires, and for its node alone', () => {
    expect(verifyMembership(token, nodeId, expiresMs - 1, crypto)).toBe(true)
    expect(verifyMembership(token, nodeId, expiresMs, crypto)).toBe(false)
    expect(verifyMembership(token, other, 0, crypto)).toBe(false)
  })

  it('cannot be made by anybody but the user, or changed', () => {
    expect(verifyMembership({ ...token, userId: other }, nodeId, 0, crypto)).toBe(false)
    expect(verifyMembership({ ...token, expiresMs: expiresMs + 1 }, nodeId, 0, crypto)).toBe(false)
    expect(verifyMembership({ ...token, signature: new Uint8Array(65) }, nodeId, 0, crypto)).toBe(false)
    expect(verifyMembership({ ...token, expiresMs: Infinity }, nodeId, 0, crypto)).toBe(false)
  })
})
