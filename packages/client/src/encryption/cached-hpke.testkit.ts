import { nodeCiphers, toHex } from '@runnel/protocol'
import { randomBytes } from 'node:crypto'

type Hpke = typeof import('./hpke.ts')

const label = new TextEncoder().encode('pair')
const { aead } = nodeCiphers

/**
 * HPKE with one encapsulation a public key: the first seal carries a secret for it, and later ones are sealed under that secret, bound to
 * their own `info`. Who has no private key opens none of them, as with the real one.
 */
export function cachedHpke(real: Hpke): Hpke {
  const pairs = new Map<
    string,
    Promise<{ encapsulated: Uint8Array; sealed: Uint8Array; secret: Uint8Array }>
  >()
  const secrets = new Map<string, Promise<Uint8Array | undefined>>()
  const pairFor = (publicKey: Uint8Array) => {
    const name = toHex(publicKey)
    const made = async () => {
      const secret = new Uint8Array(randomBytes(32))
      const sealed = await real.sealTo(publicKey, label, secret)
      if (sealed === undefined) throw new Error('no public key')
      return { ...sealed, secret }
    }
    const pair = pairs.get(name) ?? made()
    pairs.set(name, pair)
    return pair
  }
  const sealTo: Hpke['sealTo'] = async (publicKey, info, plaintext) => {
    const { encapsulated, sealed, secret } = await pairFor(publicKey)
    const nonce = new Uint8Array(randomBytes(12))
    const box = aead('chacha20-poly1305', secret).seal(nonce, plaintext, info)
    return { encapsulated, sealed: Uint8Array.of(...sealed, ...nonce, ...box) }
  }
  return {
    ...real,
    sealTo,
    sealToMany: (requests) =>
      Promise.all(requests.map(({ publicKey, info, plaintext }) => sealTo(publicKey, info, plaintext))),
    openSealed: async (privateKey, info, encapsulated, all) => {
      const sealed = all.subarray(0, 48)
      const name = `${toHex(privateKey)} ${toHex(sealed)}`
      const opening = secrets.get(name) ?? real.openSealed(privateKey, label, encapsulated, sealed)
      secrets.set(name, opening)
      const secret = await opening
      return secret && aead('chacha20-poly1305', secret).open(all.subarray(48, 60), all.subarray(60), info)
    },
  }
}
