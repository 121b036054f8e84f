import {
  createIdentity,
  delegationTypedData,
  loadCrypto,
  toNodeId,
  type DelegationClaim,
} from '@runnel/protocol'
import { Wallet } from 'ethers'
import { describe, expect, it } from 'vitest'
import { walletSigner } from './wallet-signer.ts'
import { testWallet } from './wallet.testkit.ts'

const owner = new Wallet(`0x${'11'.repeat(32)}`)
const crypto = await loadCrypto()

function typedDataFor(chainId: number) {
  const claim: DelegationClaim = {
    ...{ chainId, userId: toNodeId(owner.address), streams: [], publishes: true, reads: true, block: 0 },
    delegateId: createIdentity(new Uint8Array(32).fill(7), crypto).nodeId,
    ...{ fromMs: 1, untilMs: 2, requester: 'test' },
  }
  return delegationTypedData(claim)
}

describe('a wallet', () => {
  it('on another chain is asked to change, and is left alone on the right one', async () => {
    const wallet = testWallet(owner, 1)
    wallet.knownChains.push(31337)
    const signer = walletSigner(wallet)
    await signer.signTypedData(typedDataFor(31337))
    expect(wallet.chainId).toBe(31337)
    wallet.asked.length = 0
    await signer.signTypedData(typedDataFor(31337))
    expect(wallet.asked).toEqual(['eth_chainId', 'eth_signTypedData_v4'])
  })

  it('that does not know the chain: the error says which to choose', async () => {
    const wallet = testWallet(owner, 1)
    await expect(walletSigner(wallet).signTypedData(typedDataFor(31337))).rejects.toMatchObject({
      code: 'SIGNER_OTHER_CHAIN',
      message: expect.stringMatching(/choose chain 31337 .* on 1$/),
      cause: expect.objectContaining({ code: 4902 }),
    })
    expect(wallet.asked).not.toContain('eth_signTypedData_v4')
  })

  it('whose user does not want to change the chain refused', async () => {
    const wallet = testWallet(owner, 1)
    const signer = walletSigner(wallet)
    await signer.address()
    wallet.refuses = true
    await expect(signer.signTypedData(typedDataFor(31337))).rejects.toMatchObject({ code: 'WALLET_REFUSED' })
  })

  it('is not asked for its chain where the network has none', async () => {
    const wallet = testWallet(owner, 0)
    await walletSigner(wallet).signTypedData(typedDataFor(0))
    expect(wallet.asked).toEqual(['eth_requestAccounts', 'eth_signTypedData_v4'])
  })

  it('is asked for its account once, and again after it refused', async () => {
    const wallet = testWallet(owner, 1)
    const signer = walletSigner(wallet)
    wallet.refuses = true
    await expect(signer.address()).rejects.toMatchObject({ code: 'WALLET_REFUSED' })
    wallet.refuses = false
    wallet.asked.length = 0
    await Promise.all([signer.address(), signer.address()])
    await signer.address()
    expect(wallet.asked).toEqual(['eth_requestAccounts'])
  })

  it('that is not there, or gives nonsense, is told apart', async () => {
    expect(() => walletSigner(undefined)).toThrow(expect.objectContaining({ code: 'NO_WALLET' }))
    for (const nonsense of [undefined, [], ['0x12'], [7]]) {
      const signer = walletSigner({ request: () => Promise.resolve(nonsense) })
      await expect(signer.address()).rejects.toMatchObject({ code: 'WALLET_FAILED' })
    }
    const wallet = testWallet(owner, 1)
    const mute = walletSigner({
      request: async (asked) => (asked.method.startsWith('eth_sign') ? '0x1' : wallet.request(asked)),
    })
    await expect(mute.signTypedData(typedDataFor(1))).rejects.toMatchObject({ code: 'WALLET_FAILED' })
  })
})
