import { describe, expect, it } from 'vitest'
import { loadX25519 } from './node-x25519.ts'
import { pageX25519 } from './page-x25519.ts'

const hex = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'hex'))
const kinds = { node: await loadX25519(), page: pageX25519 }

describe.each(Object.entries(kinds))('X25519 (%s)', (_, x25519) => {
  it('is as RFC 7748 says, section 6.1', () => {
    const alice = hex('77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a')
    const bob = hex('5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb')
    const publicOfAlice = hex('8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a')
    const shared = hex('4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742')
    expect(x25519.pairOf(alice).publicKey).toEqual(publicOfAlice)
    expect(x25519.pairOf(bob).agree(publicOfAlice)).toEqual(shared)
    expect(x25519.pairOf(alice).agree(x25519.pairOf(bob).publicKey)).toEqual(shared)
  })

  it('makes keys, and agrees on nothing with what is none', () => {
    const [one, other] = [x25519.newPair(), x25519.newPair()]
    expect(one.publicKey).toHaveLength(32)
    expect(one.publicKey).not.toEqual(other.publicKey)
    expect(one.agree(other.publicKey)).toEqual(other.agree(one.publicKey))
    for (const none of [new Uint8Array(32), new Uint8Array(32).with(0, 1), new Uint8Array(31).fill(9)])
      expect(one.agree(none)).toBeUndefined()
  })
})
