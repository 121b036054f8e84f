import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { ml_kem768_x25519 as xWing } from '@noble/post-quantum/hybrid.js'
import { KEM_DHKEM_X25519_HKDF_SHA256, KEM_MLKEM768_X25519 } from '@panva/hpke-noble'
import { CipherSuite } from 'hpke'
import { describe, expect, it } from 'vitest'
import {
  hasNativeKem,
  hpkeSuite,
  maxSealsInJavaScript,
  openSealed,
  publicKeyOf,
  sealTo,
  sealToMany,
} from './hpke.ts'
import { chaCha20Poly1305, hkdfSha256 } from './hpke-symmetric.ts'

/** What the standards publish for everybody to compare with. */
const standards = JSON.parse(
  readFileSync(new URL('../../../protocol/vectors/standards.json', import.meta.url), 'utf8'),
) as {
  readonly xwing: { readonly vectors: readonly Readonly<Record<string, string>>[] }
  readonly hpkeXwing: Readonly<Record<string, string>>
  readonly hpkeX25519: Readonly<Record<string, string>>
}
const hex = (text = ''): Uint8Array => new Uint8Array(Buffer.from(text, 'hex'))
const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')
const kinds = hasNativeKem() ? (['noble', 'native'] as const) : (['noble'] as const)

const privateKey = new Uint8Array(32).fill(7)
const publicKey = await publicKeyOf(privateKey)
const [info, plaintext] = [Buffer.from('what for'), Buffer.from('a key')]

describe('X-Wing', () => {
  it.each(standards.xwing.vectors)('is as its draft says', async (vector) => {
    const seed = hex(vector['seedHex'])
    const ofSeed = await publicKeyOf(seed)
    expect(sha256(ofSeed)).toBe(vector['publicKeySha256'])
    const { cipherText, sharedSecret } = xWing.encapsulate(ofSeed, hex(vector['encapsulationSeedHex']))
    expect(sha256(cipherText)).toBe(vector['ciphertextSha256'])
    expect(sharedSecret).toEqual(hex(vector['sharedSecretHex']))
    expect(xWing.decapsulate(cipherText, seed)).toEqual(sharedSecret)
  })
})

it('is native where Node says it has what that needs, from 24.7 on', () => {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  expect(hasNativeKem()).toBe(major > 24 || (major === 24 && minor >= 7))
})

describe.each(kinds)('HPKE with X-Wing (%s)', (kind) => {
  it('opens what draft-ietf-hpke-pq sealed', async () => {
    const suite = await hpkeSuite(kind)
    await expectToOpen(suite, standards.hpkeXwing)
  })

  it('exchanges seals with another implementation of X-Wing', async () => {
    const [ours, theirs] = [
      await hpkeSuite(kind),
      new CipherSuite(KEM_MLKEM768_X25519, hkdfSha256, chaCha20Poly1305),
    ]
    for (const [from, to] of [
      [ours, theirs],
      [theirs, ours],
    ] as const) {
      const { encapsulatedSecret, ciphertext } = await from.Seal(
        await from.DeserializePublicKey(publicKey),
        plaintext,
        { info },
      )
      const key = await to.DeserializePrivateKey(privateKey)
      expect(Buffer.from(await to.Open(key, encapsulatedSecret, ciphertext, { info }))).toEqual(plaintext)
    }
  })

  it('opens what either sealed', async () => {
    const suite = await hpkeSuite(kind)
    const key = await suite.DeserializePrivateKey(privateKey)
    for (const other of kinds) {
      const from = await hpkeSuite(other)
      const to = await from.DeserializePublicKey(publicKey)
      const { encapsulatedSecret, ciphertext } = await from.Seal(to, plaintext, { info })
      expect([encapsulatedSecret.length, ciphertext.length]).toEqual([1120, plaintext.length + 16])
      const opened = await suite.Open(key, encapsulatedSecret, ciphertext, { info })
      expect(Buffer.from(opened)).toEqual(plaintext)
    }
  })
})

describe('HPKE', () => {
  it('has the key schedule and the cipher of RFC 9180', async () => {
    const suite = new CipherSuite(KEM_DHKEM_X25519_HKDF_SHA256, hkdfSha256, chaCha20Poly1305)
    await expectToOpen(suite, standards.hpkeX25519)
  })

  it('opens with the key and for the purpose that it was sealed for, and when nothing changed', async () => {
    const { encapsulated, sealed } = (await sealTo(publicKey, info, plaintext)) ?? expect.fail()
    expect(Buffer.from((await openSealed(privateKey, info, encapsulated, sealed)) ?? [])).toEqual(plaintext)
    const changed = (bytes: Uint8Array): Uint8Array => bytes.with(0, (bytes[0] ?? 0) ^ 1)
    expect(await openSealed(changed(privateKey), info, encapsulated, sealed)).toBeUndefined()
    expect(await openSealed(privateKey, changed(info), encapsulated, sealed)).toBeUndefined()
    expect(await openSealed(privateKey, info, changed(encapsulated), sealed)).toBeUndefined()
    expect(await openSealed(privateKey, info, encapsulated.subarray(1), sealed)).toBeUndefined()
    expect(await openSealed(privateKey, info, encapsulated, changed(sealed))).toBeUndefined()
    expect(await openSealed(privateKey, info, encapsulated, sealed.subarray(0, 15))).toBeUndefined()
  })

  it('makes each seal anew', async () => {
    const [a, b] = await sealToMany([
      { publicKey, info, plaintext },
      { publicKey, info, plaintext },
    ])
    expect(a?.encapsulated).not.toEqual(b?.encapsulated)
  })

  it.each([3, maxSealsInJavaScript + 1])(
    'makes %i seals, but none for what is no public key',
    async (count) => {
      const noKeys = [
        publicKey.subarray(1),
        // Coefficients of ML-KEM that are not below its modulus (FIPS 203, section 7.2), and a point of X25519 of low order.
        publicKey.with(0, 0xff).with(1, 0xff),
        publicKey.with(1150, 0xff).with(1151, 0xff),
        Uint8Array.from(publicKey, (byte, i) => (i < 1184 ? byte : 0)),
      ]
      const requests = Array.from({ length: count }, (_, i) => ({
        publicKey,
        info,
        plaintext: Uint8Array.of(i),
      }))
      const hostile = noKeys.map((noKey) => ({ publicKey: noKey, info, plaintext }))
      const seals = await sealToMany([...hostile, ...requests])
      expect(seals.slice(0, noKeys.length)).toEqual(noKeys.map(() => undefined))
      for (const [i, seal] of seals.slice(noKeys.length).entries()) {
        const { encapsulated, sealed } = seal ?? expect.fail()
        expect(await openSealed(privateKey, info, encapsulated, sealed)).toEqual(Uint8Array.of(i))
      }
    },
  )

  it('lets other work be done between seals', async () => {
    let turns = 0
    const clock = { endOfTurn: (fn: () => void) => (turns++, setImmediate(fn)) }
    await sealToMany(Array(2).fill({ publicKey, info, plaintext }), clock)
    expect(turns).toBe(2)
  })
})

async function expectToOpen(suite: CipherSuite, vector: Readonly<Record<string, string>>): Promise<void> {
  const key = await suite.DeserializePrivateKey(hex(vector['privateKeyHex']))
  const opened = await suite.Open(key, hex(vector['encapsulatedHex']), hex(vector['sealedHex']), {
    info: hex(vector['infoHex']),
    aad: hex(vector['associatedHex']),
  })
  expect(opened).toEqual(hex(vector['plaintextHex']))
}
