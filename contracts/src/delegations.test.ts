import { Contract, getBytes, id, Wallet, ZeroAddress, type HDNodeWallet } from 'ethers'
import { beforeEach, describe, expect, it } from 'vitest'
import { compileTestContract } from '../scripts/compile.ts'
import { eventsOf, mined, revertOf, useChain } from './chain.testkit.ts'
import { acceptsSignature } from './contract-signature.ts'
import { deployContract } from './deploy.ts'
import { delegationRevokedAt } from './revoked-at.ts'

const chain = useChain()
const delegate = '0x00000000000000000000000000000000000000AA'
const other = '0x00000000000000000000000000000000000000bb'

/** The time of the newest block, in unix seconds. */
async function blockTime(): Promise<number> {
  return (await chain().provider.getBlock('latest'))?.timestamp ?? 0
}

const revokedAt = async (fromMs: number, who = delegate) =>
  Number(await chain().streams.delegationRevokedAt(chain().owner.address, who, fromMs))

describe('delegations in the stream registry', () => {
  it('hold until their user revokes the delegate, whenever they begin', async () => {
    const { streams, owner, alice } = chain()
    expect(await revokedAt(5)).toBe(0)
    expect(await eventsOf(streams, streams.revokeDelegate(delegate))).toEqual([
      { name: 'DelegateRevoked', args: { user: owner.address, delegate } },
    ])
    const firstAt = await blockTime()
    expect([await revokedAt(5), await revokedAt(2 ** 48 - 1), await revokedAt(5, other)]).toEqual([
      firstAt,
      firstAt,
      0,
    ])
    expect(await streams.delegationRevokedAt(alice.address, delegate, 5)).toBe(0n)
  })

  it('stay revoked at the first time', async () => {
    const { streams } = chain()
    await mined(streams.revokeDelegate(delegate))
    const firstAt = await blockTime()
    expect(await eventsOf(streams, streams.revokeDelegate(delegate))).toEqual([])
    expect(await revokedAt(5)).toBe(firstAt)
  })

  it('end together where they began until a time, and each at the first time that says so', async () => {
    const { streams, owner } = chain()
    expect(await eventsOf(streams, streams.revokeDelegations(1000))).toEqual([
      { name: 'DelegationsRevoked', args: { user: owner.address, begunByMs: 1000n } },
    ])
    const firstAt = await blockTime()
    const secondAt = firstAt + 60
    await chain().provider.send('evm_setNextBlockTimestamp', [secondAt])
    await mined(streams.revokeDelegations(3000))
    expect(await eventsOf(streams, streams.revokeDelegations(2000))).toEqual([])
    expect(await eventsOf(streams, streams.revokeDelegations(3000))).toEqual([])
    const answers = await Promise.all([0, 1000, 1001, 3000, 3001, 2 ** 48 - 1].map((ms) => revokedAt(ms)))
    expect(answers).toEqual([firstAt, firstAt, secondAt, secondAt, 0, 0])
    await mined(streams.revokeDelegate(delegate))
    expect([await revokedAt(1001), await revokedAt(3001)]).toEqual([secondAt, await blockTime()])
  })

  it('cannot be ended for a time that is far off, as the user could not delegate until then', async () => {
    const { streams } = chain()
    const farMs = (await blockTime()) * 1000 + 2 * 86_400_000
    expect(await revertOf(streams.revokeDelegations(farMs))).toMatchObject({
      name: 'Delegations__TimeInFuture',
      args: { begunByMs: BigInt(farMs) },
      hint: expect.stringContaining(new Date(farMs).toISOString()),
    })
  })

  it('are read as ended, as not ended, and as unknown to a contract of an earlier version', async () => {
    const { streams, trackers, owner, provider } = chain()
    const key = { userId: owner.address, delegateId: delegate, fromMs: 5 }
    expect(await delegationRevokedAt(String(streams.target), provider, key)).toBe(0n)
    await mined(streams.revokeDelegate(delegate))
    expect(await delegationRevokedAt(String(streams.target), provider, key)).toBe(BigInt(await blockTime()))
    for (const old of [String(trackers.target), ZeroAddress])
      expect(await delegationRevokedAt(old, provider, key)).toBeUndefined()
  })
})

describe('the signature of a contract', () => {
  const multisig = compileTestContract('test/TestMultisig.sol', 'TestMultisig')
  const hostile = compileTestContract('test/HostileAccount.sol', 'HostileAccount')
  const digest = id('a delegation')
  const owners = [Wallet.createRandom(), Wallet.createRandom(), Wallet.createRandom()].sort((a, b) =>
    a.address.toLowerCase() < b.address.toLowerCase() ? -1 : 1,
  )
  /** Owners' signatures, in the order of their addresses. */
  const signed = (by: readonly HDNodeWallet[], what = digest) =>
    Uint8Array.from(by.flatMap(({ signingKey }) => [...getBytes(signingKey.sign(what).serialized)]))
  let account: Contract
  const accepts = (signature: Uint8Array, of = digest, blockTag?: number) =>
    acceptsSignature(chain().provider, { account: String(account.target), digest: of, signature, blockTag })

  beforeEach(async () => {
    const addresses = [...owners.map(({ address }) => address), chain().owner.address]
    const address = await deployContract(multisig, chain().owner, [addresses, 2])
    account = new Contract(address, multisig.abi, chain().owner)
  })

  it('is that of enough of its owners', async () => {
    const [a, b, c] = owners as [HDNodeWallet, HDNodeWallet, HDNodeWallet]
    expect(await accepts(signed([a, b]))).toBe(true)
    expect(await accepts(signed([a, b, c]))).toBe(true)
  })

  it('is not that of too few, of one twice, of strangers, or of another digest', async () => {
    const [a, b] = owners as [HDNodeWallet, HDNodeWallet]
    const stranger = Wallet.createRandom()
    for (const refused of [signed([a]), signed([a, a]), signed([stranger, a]), new Uint8Array()])
      expect(await accepts(refused)).toBe(false)
    expect(await accepts(signed([a, b], id('another')))).toBe(false)
    expect(await accepts(signed([a, b]), id('another'))).toBe(false)
  })

  it('is no longer that of an owner who was removed, but was at a block before', async () => {
    const [a, b, c] = owners as [HDNodeWallet, HDNodeWallet, HDNodeWallet]
    const block = await chain().provider.getBlockNumber()
    await mined(account.getFunction('removeOwner')(b.address))
    expect(await accepts(signed([a, b]))).toBe(false)
    expect(await accepts(signed([a, c]))).toBe(true)
    expect(await accepts(signed([a, b]), digest, block)).toBe(true)
  })

  it('is none where there is no contract', async () => {
    const question = { account: delegate, digest, signature: signed(owners) }
    expect(await acceptsSignature(chain().provider, question)).toBe(false)
  })

  it.each([
    ['burns all gas', 1],
    ['reverts', 2],
    ['answers with 200,000 bytes', 3],
    ['answers with four bytes', 4],
    ['answers with more than the selector in its word', 5],
  ])('is none of a contract that %s', async (_, how) => {
    const { owner, provider } = chain()
    const address = await deployContract(hostile, owner, [])
    const question = { account: address, digest, signature: Uint8Array.of(how) }
    expect(await acceptsSignature(provider, question)).toBe(false)
  })

  it('is not known where the chain has no such block', async () => {
    await expect(accepts(signed(owners), digest, 1_000_000)).rejects.toThrow()
  })
})
