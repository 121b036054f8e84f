import { toNodeId, type NodeId } from '@runnel/protocol'
import { BrowserProvider, Wallet, type AbstractSigner } from 'ethers'
import { clientError } from '../../errors.ts'
import { askForAccount, type Eip1193Provider } from '../../wallet.ts'
import { receiptPollingMs, type ChainConnection } from './chain-connection.ts'

/** The account that signs and pays for changes of the registries. */
export interface ChainAccount {
  readonly id: NodeId
  readonly signer: AbstractSigner
}

/** The account of a key. */
export function keyAccount(privateKey: string, { provider }: ChainConnection): ChainAccount {
  const signer = new Wallet(privateKey, provider)
  return { id: toNodeId(signer.address), signer }
}

/**
 * The account a wallet's user chooses; the wallet asks the user for every change. Throws WALLET_REFUSED, WALLET_FAILED, CHAIN_MISMATCH
 * when the wallet is on another chain than the registries, or what a chain throws.
 */
export async function walletAccount(
  wallet: Eip1193Provider,
  chainId: number,
  connection: ChainConnection,
): Promise<ChainAccount> {
  const account = await askForAccount(wallet)
  const provider = new BrowserProvider(wallet, undefined, {
    cacheTimeout: -1,
    pollingInterval: receiptPollingMs,
  })
  const signer = await connection.call(() => provider.getSigner(account))
  const { chainId: walletChainId } = await connection.call(() => provider.getNetwork())
  if (walletChainId !== BigInt(chainId)) {
    throw clientError('CHAIN_MISMATCH', `the wallet is on ${walletChainId}, the registries are on ${chainId}`)
  }
  return { id: toNodeId(signer.address), signer }
}
