import { secp256k1 } from '@noble/curves/secp256k1.js'
import { getBytes, hexlify, type Wallet, type TransactionRequest } from 'ethers'
import type { TypedData } from '@runnel/protocol'
import { hashOfTypedData } from '../registry/chain/hash-of-typed-data.ts'
import type { Eip1193Provider } from '../wallet.ts'

/** What a wallet's user sees and decides. */
export interface TestWallet extends Eip1193Provider {
  /** The methods that were asked, in their order. */
  readonly asked: string[]
  chainId: number
  /** The chains that it can change to. */
  readonly knownChains: number[]
  refuses: boolean
  /** Its signatures differ each time, as those of keys that several machines share (MPC). */
  signsRandomly: boolean
  /** While it is there, an answer waits for it. */
  until: Promise<unknown> | undefined
}

/** A wallet with a real key. As the known ones do, it signs for the chain that it is on only. */
export function testWallet(owner: Wallet, chainId: number): TestWallet {
  const wallet: TestWallet = {
    asked: [],
    chainId,
    knownChains: [chainId],
    refuses: false,
    signsRandomly: false,
    until: undefined,
    async request({ method, params = [] }) {
      wallet.asked.push(method)
      if (method === 'eth_chainId') return `0x${wallet.chainId.toString(16)}`
      await wallet.until
      if (wallet.refuses) throw providerError(4001, 'User rejected the request.')
      if (!Array.isArray(params)) throw providerError(-32602, 'Invalid params')
      return answer(wallet, owner, method, params)
    },
  }
  return wallet
}

async function answer(
  wallet: TestWallet,
  owner: Wallet,
  method: string,
  params: unknown[],
): Promise<unknown> {
  switch (method) {
    case 'eth_requestAccounts':
      return [owner.address]
    case 'wallet_switchEthereumChain': {
      const chainId = Number((params[0] as { chainId: string }).chainId)
      if (!wallet.knownChains.includes(chainId)) throw providerError(4902, 'Unrecognized chain ID')
      wallet.chainId = chainId
      return null
    }
    case 'eth_signTypedData_v4': {
      const data = JSON.parse(String(params[1])) as TypedData
      if (data.domain.chainId !== wallet.chainId) throw providerError(-32603, 'must match the active chainId')
      return wallet.signsRandomly ? signRandomly(owner, data) : signTyped(owner, data)
    }
    case 'eth_sendTransaction': {
      // Its own idea of fees, as wallets have.
      const { to, data, gas, nonce } = params[0] as Record<'to' | 'data' | 'gas' | 'nonce', string>
      const request: TransactionRequest = { to, data, gasLimit: gas, nonce: Number(nonce) }
      return (await owner.sendTransaction(request)).hash
    }
    default:
      throw providerError(4200, `no ${method}`)
  }
}

/** As `eth_signTypedData_v4` does: what the types say is what is signed, and the signature ends with 27 or 28. */
export function signTyped(owner: Wallet, data: TypedData): string {
  return owner.signingKey.sign(hashOfTypedData(data)).serialized
}

function signRandomly(owner: Wallet, data: TypedData): string {
  const options = { prehash: false, format: 'recovered', extraEntropy: true } as const
  const [parity = 0, ...rs] = secp256k1.sign(
    getBytes(hashOfTypedData(data)),
    getBytes(owner.privateKey),
    options,
  )
  return hexlify(Uint8Array.of(...rs, parity + 27))
}

const providerError = (code: number, message: string): Error => Object.assign(new Error(message), { code })
