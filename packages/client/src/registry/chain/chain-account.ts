import { toNodeId, type NodeId } from '@runnel/protocol'
import {
  Signature,
  Transaction,
  TransactionResponse,
  VoidSigner,
  type AbstractSigner,
  type Provider,
  type TransactionRequest,
} from '@runnel/contracts/ethers'
import { keySigner } from '../../identity/key-signer.ts'
import type { Signed, Signer } from '../../identity/signer.ts'
import { walletSigner } from '../../identity/wallet-signer.ts'
import type { Eip1193Provider } from '../../wallet.ts'
import type { ChainConnection } from './chain-connection.ts'
import { checkedSigned, unsentOf } from './signed-transaction.ts'

/** The account that signs and pays for changes of the registries. */
export interface ChainAccount {
  readonly id: NodeId
  readonly signer: AbstractSigner
}

/** Who signs for the account: a private key, a wallet, or any signer. */
export type AccountSource = string | Eip1193Provider | Signer

/** Throws what signers throw when they are asked for their address. */
export async function openAccount(
  source: AccountSource,
  { provider }: ChainConnection,
): Promise<ChainAccount> {
  const signer = signerOf(source)
  const id = toNodeId(await signer.address())
  return { id, signer: new SigningAccount(id, signer, provider) }
}

function signerOf(source: AccountSource): Signer {
  if (typeof source === 'string') return keySigner(source)
  return 'request' in source ? walletSigner(source) : source
}

/** A signer as contracts of ethers take it: what a transaction needs is found out on the chain, before the signer is asked. */
class SigningAccount extends VoidSigner {
  readonly #signer: Signer
  readonly #provider: Provider

  constructor(id: NodeId, signer: Signer, provider: Provider) {
    super(id, provider)
    this.#signer = signer
    this.#provider = provider
  }

  override async sendTransaction(request: TransactionRequest): Promise<TransactionResponse> {
    // With a sender, ethers takes it for a signed one.
    const transaction = Transaction.from({ ...(await this.populateTransaction(request)), from: null })
    const broadcast = async (signed: Signed): Promise<string> => {
      const checked = checkedSigned(signed, transaction, this.address)
      return (await this.#provider.broadcastTransaction(checked)).hash
    }
    const hash = await this.#signer.sendTransaction(unsentOf(transaction), broadcast)
    return responseOf(hash, this.address, transaction, this.#provider)
  }
}

/** To be waited for by its hash. It is not read from the chain: what a wallet sent elsewhere may not be known there yet. */
function responseOf(
  hash: string,
  from: string,
  { to, data, nonce, gasLimit, value, chainId, type, gasPrice }: Transaction,
  provider: Provider,
): TransactionResponse {
  return new TransactionResponse(
    {
      ...{ hash, from, to, data, nonce, gasLimit, value, chainId, type: type ?? 2 },
      ...{ gasPrice: gasPrice ?? 0n, maxFeePerGas: null, maxPriorityFeePerGas: null },
      ...{ blockNumber: null, blockHash: null, index: 0, accessList: null, authorizationList: null },
      signature: Signature.from(),
    },
    provider,
  )
}
