import { clientError } from '../errors.ts'
import { askForAccount, askWallet, isRefusal, type Eip1193Provider } from '../wallet.ts'
import { abortable } from './abortable.ts'
import { isHex, quantity, rpcTransaction } from './quantities.ts'
import type { Signer } from './signer.ts'

/**
 * Makes a signer for the account that a wallet's user chooses (EIP-1193); every call asks the user. The account chosen first stays. A
 * wallet on another chain is asked to switch to the right one (EIP-3326). Throws NO_WALLET if there is no wallet; the calls throw
 * WALLET_REFUSED, WALLET_FAILED, SIGNER_OTHER_CHAIN or ABORTED.
 */
export function walletSigner(wallet: Eip1193Provider | undefined): Signer {
  if (wallet === undefined) throw clientError('NO_WALLET')
  let chosen: Promise<string> | undefined
  const address = (): Promise<string> => {
    chosen ??= askForAccount(wallet).catch((error: unknown) => {
      chosen = undefined
      throw error
    })
    return chosen
  }
  const askForHex = async (method: string, params: unknown[]): Promise<string> => {
    const answer = await askWallet(wallet, method, params)
    if (!isHex(answer)) throw clientError('WALLET_FAILED', `it gave nothing for ${method}`)
    return answer
  }
  return {
    address: (signal) => abortable(address(), signal),
    signTypedData: (data, signal) =>
      abortable(
        address().then(async (account) => {
          await useChain(wallet, data.domain.chainId)
          return askForHex('eth_signTypedData_v4', [account, JSON.stringify(data)])
        }),
        signal,
      ),
    sendTransaction: (transaction, _broadcast, signal) =>
      abortable(
        address().then(async (account) => {
          await useChain(wallet, transaction.chainId)
          // Without fees, which its user chooses.
          return askForHex('eth_sendTransaction', [rpcTransaction(transaction, account)])
        }),
        signal,
      ),
  }
}

/** Wallets sign for the chain they are on only. Networks without a chain, whose id is 0, take any. */
async function useChain(wallet: Eip1193Provider, chainId: number): Promise<void> {
  if (chainId === 0 || (await chainOf(wallet)) === chainId) return
  let cause: unknown
  try {
    await wallet.request({ method: 'wallet_switchEthereumChain', params: [{ chainId: quantity(chainId) }] })
  } catch (error) {
    if (isRefusal(error)) throw clientError('WALLET_REFUSED', undefined, { cause: error })
    // It does not know the chain, or cannot change: the question below tells.
    cause = error
  }
  const current = await chainOf(wallet)
  if (current !== chainId) {
    const detail = `choose chain ${chainId} in the wallet, which is on ${current}`
    throw clientError('SIGNER_OTHER_CHAIN', detail, { cause })
  }
}

async function chainOf(wallet: Eip1193Provider): Promise<number> {
  return Number(await askWallet(wallet, 'eth_chainId', []))
}
