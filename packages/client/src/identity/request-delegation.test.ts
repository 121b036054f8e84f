import {
  createIdentity,
  delegationDigest,
  delegationTypedData,
  isSignedByKey,
  limits,
  loadCrypto,
  toHex,
  toStreamId,
  type DelegationClaim,
  type TypedData,
} from '@runnel/protocol'
import { describe, expect, it } from 'vitest'
import { hashOfTypedData } from '../registry/chain/hash-of-typed-data.ts'
import { fakeDelegations } from '../registry/delegations.testkit.ts'
import { keySigner } from './key-signer.ts'
import { requestDelegation, type DelegationWish } from './request-delegation.ts'
import { keysOnly } from './request-signature.ts'
import type { Signer } from './signer.ts'

const crypto = await loadCrypto()
const user = keySigner('11'.repeat(32))
const userId = createIdentity(new Uint8Array(32).fill(0x11), crypto).nodeId
const delegateId = createIdentity(new Uint8Array(32).fill(0x22), crypto).nodeId
const dayMs = 86_400_000
const nowMs = Date.UTC(2031, 3, 5, 6, 7, 8, 9)
const stream = (path: string) => toStreamId(`${userId}/${path}`)

const wish: DelegationWish = {
  ...{ chainId: 137, streams: [], publishes: true, reads: false, lastsMs: dayMs },
  requester: 'https://page.example',
}

function ask(signer: Signer, changed: Partial<DelegationWish> = {}, accounts = keysOnly) {
  return requestDelegation(
    signer,
    delegateId,
    { ...wish, ...changed },
    { crypto, accounts, clock: { now: () => nowMs } },
  )
}

/** The user's signer, with another signature in place of its own. */
const signing = (change: (signature: string) => string): Signer => ({
  ...user,
  signTypedData: async (data) => change(await user.signTypedData(data)),
})

const contractAt = (block: number) => ({ contractBlock: () => Promise.resolve(block) })

describe('a delegation that is asked for', () => {
  it('says what was wished, and begins a little earlier, as clocks differ', async () => {
    const { signature, ...claim } = await ask(user)
    expect(claim).toEqual({
      ...{ chainId: 137, streams: [], publishes: true, reads: false, requester: 'https://page.example' },
      ...{ userId, delegateId, block: 0, fromMs: nowMs - 10 * 60_000, untilMs: nowMs + dayMs },
    })
    expect(signature).toHaveLength(65)
  })

  it('begins now where the user has just ended what began earlier', async () => {
    const { registry, delegations } = fakeDelegations()
    registry.endedByMs = nowMs - 1
    const modules = { crypto, delegations, clock: { now: () => nowMs } }
    expect((await requestDelegation(user, delegateId, wish, modules)).fromMs).toBe(nowMs)
    registry.endedByMs = nowMs - 10 * 60_000 - 1
    delegations.apply({ kind: 'unknown' })
    expect((await requestDelegation(user, delegateId, wish, modules)).fromMs).toBe(nowMs - 10 * 60_000)
  })

  it('is the same whether the signer ends its signature with 27 and 28 or 0 and 1', async () => {
    const asWallets = (signature: string): string => {
      const parity = Number.parseInt(signature.slice(-2), 16)
      return `${signature.slice(0, -2)}${(parity + 27).toString(16)}`
    }
    expect(await ask(signing(asWallets))).toEqual(await ask(user))
  })

  it('is refused when somebody else signed, or nobody', async () => {
    const another = keySigner('33'.repeat(32))
    const wrong: Signer = { ...user, signTypedData: (data) => another.signTypedData(data) }
    await expect(ask(wrong)).rejects.toMatchObject({
      code: 'SIGNER_OTHER_ACCOUNT',
      message: expect.stringContaining(userId),
    })
    for (const answer of ['0x', '', 'yes', '0x123']) {
      await expect(ask(signing(() => answer))).rejects.toMatchObject({ code: 'SIGNER_FAILED' })
    }
    await expect(ask(signing((signature) => `${signature}00`))).rejects.toMatchObject({
      code: 'SIGNER_OTHER_ACCOUNT',
    })
  })

  it('of a contract names the block, and has its signature as it is', async () => {
    const signature = `0x${'1b'.repeat(130)}`
    const delegation = await ask(
      signing(() => signature),
      {},
      contractAt(77),
    )
    expect(delegation.block).toBe(77)
    expect(toHex(delegation.signature)).toBe(signature)
    await expect(
      ask(
        signing(() => `0x${'00'.repeat(5000)}`),
        {},
        contractAt(77),
      ),
    ).rejects.toMatchObject({ code: 'LIMIT_EXCEEDED' })
  })

  it('of a key that has code, too, is known to be of the key', async () => {
    expect(isSignedByKey(await ask(user, {}, contractAt(77)), crypto)).toBe(true)
  })

  it.each<[string, Partial<DelegationWish>, string]>([
    ['too long', { streams: [stream('a')], lastsMs: 367 * dayMs }, 'DELEGATION_TOO_LONG'],
    ['too broad', { lastsMs: 93 * dayMs }, 'DELEGATION_TOO_BROAD'],
    ['over before it begins', { lastsMs: -dayMs }, 'MALFORMED_PACKET'],
    ['for nothing', { publishes: false }, 'MALFORMED_PACKET'],
    ['for many streams', { streams: [...'abcdefghi'].map(stream) }, 'LIMIT_EXCEEDED'],
  ])('and is %s is asked of nobody', async (_name, changed, code) => {
    const unasked: Signer = { ...user, signTypedData: () => Promise.reject(new Error('asked')) }
    await expect(ask(unasked, changed)).rejects.toMatchObject({ code })
  })
})

describe('what is signed', () => {
  const claim: DelegationClaim = {
    ...{ chainId: 1, userId, delegateId, fromMs: nowMs, untilMs: nowMs + dayMs, publishes: true },
    ...{ reads: true, streams: [], requester: '', block: 0 },
  }
  it.each<[string, Partial<DelegationClaim>]>([
    ['the least', { chainId: 0, fromMs: 0, untilMs: 1 }],
    ['a contract', { block: 123_456_789 }],
    ['the largest numbers', { chainId: 2 ** 53 - 1, block: 2 ** 53 - 1, untilMs: 2 ** 48 - 1 }],
    ['one right', { publishes: false }],
    ['as many streams as there may be', { streams: [...'abcdefgh'].map((name) => stream(`${name}/1`)) }],
    ['a requester with quotes', { requester: `"\\'\`${'~'.repeat(limits.maxRequesterBytes - 4)}` }],
  ])('has the hash that ethers gives it: %s', (_name, changed) => {
    const odd = { ...claim, ...changed }
    const hash = hashOfTypedData(delegationTypedData(odd))
    expect(toHex(delegationDigest(odd, crypto))).toBe(hash)
    // As a wallet gets it.
    const read = JSON.parse(JSON.stringify(delegationTypedData(odd))) as TypedData
    expect(hashOfTypedData(read)).toBe(hash)
  })
})
