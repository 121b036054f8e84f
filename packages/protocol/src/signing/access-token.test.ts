import { describe, expect, it } from 'vitest'
import vectors from '../../vectors/access.json' with { type: 'json' }
import { createIdentity, parsePrivateKey } from '../crypto/identity.ts'
import { loadCrypto } from '../crypto/load-crypto.ts'
import { toNodeId } from '../ids/node-id.ts'
import { fromHex, toHex } from '../messages/plain-json.testkit.ts'
import { sampleIdentity } from '../messages/samples.testkit.ts'
import { accessDigest, anyRequester, signAccessToken, verifyAccessToken } from './access-token.ts'
import type { AccessClaim } from './access-token.ts'

const crypto = await loadCrypto()
const user = sampleIdentity(crypto, 0)
const parties = {
  requesterId: sampleIdentity(crypto, 1).nodeId,
  storageNodeId: sampleIdentity(crypto, 2).nodeId,
}
const expiresMs = 1_000_000
const token = signAccessToken({ ...parties, expiresMs }, crypto, user)
const verify = (changes: Partial<typeof token>, of = parties, nowMs = 0) =>
  verifyAccessToken({ ...token, ...changes }, of, nowMs, crypto)

describe('an access token', () => {
  it.each(vectors)('is as in the vector "$name"', ({ claim, privateKey, digestHex, signatureHex }) => {
    const { expiresMs } = claim
    const of: AccessClaim = {
      userId: toNodeId(claim.userId),
      requesterId: toNodeId(claim.requesterId),
      storageNodeId: toNodeId(claim.storageNodeId),
      expiresMs,
    }
    expect(toHex(accessDigest(of, crypto))).toBe(digestHex)
    const signed = signAccessToken(of, crypto, createIdentity(parsePrivateKey(privateKey), crypto))
    expect(signed).toEqual({ userId: of.userId, expiresMs, signature: fromHex(signatureHex) })
    expect(verifyAccessToken(signed, of, expiresMs - 1, crypto)).toBe(true)
  })

  it('is good until it expires', () => {
    expect([0, expiresMs - 1, expiresMs, expiresMs + 1].map((now) => verify({}, parties, now))).toEqual([
      true,
      true,
      false,
      false,
    ])
  })

  it('is good for nobody else, nowhere else, not in another name, and no longer than was signed', () => {
    const { requesterId, storageNodeId } = parties
    expect(verify({}, { ...parties, requesterId: user.nodeId })).toBe(false)
    expect(verify({}, { ...parties, requesterId: anyRequester })).toBe(false)
    expect(verify({}, { ...parties, storageNodeId: user.nodeId })).toBe(false)
    expect(verify({}, { requesterId: storageNodeId, storageNodeId: requesterId })).toBe(false)
    expect(verify({ userId: requesterId })).toBe(false)
    expect(verify({ expiresMs: expiresMs + 1 })).toBe(false)
  })

  it('is worth nothing, and no error, whatever stands in it', () => {
    for (const bad of [Number.NaN, Infinity, -1, 1.5, 2 ** 48, Number.MAX_VALUE]) {
      expect(verify({ expiresMs: bad }, parties, -2), String(bad)).toBe(false)
    }
    for (const signature of [new Uint8Array(), token.signature.subarray(1), new Uint8Array(65).fill(255)]) {
      expect(verify({ signature })).toBe(false)
    }
    for (let bit = 0; bit < token.signature.length * 8; bit++) {
      const signature = token.signature.slice()
      signature[bit >> 3] = (signature[bit >> 3] as number) ^ (1 << (bit & 7))
      expect(verify({ signature }), `bit ${bit}`).toBe(false)
    }
  })
})
