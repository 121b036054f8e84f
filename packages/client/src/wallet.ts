import { clientError, reasonOf } from './errors.ts'
import { isAddress } from './identity/quantities.ts'

/** The interface of an Ethereum wallet to a page (EIP-1193): `window.ethereum`, or a provider that EIP-6963 announces. */
export interface Eip1193Provider {
  request(request: { method: string; params?: unknown[] | Record<string, unknown> }): Promise<unknown>
}

/** The wallet's user said no (EIP-1193, section "Provider Errors"). */
const userRejected = 4001

/** True for what a wallet throws when its user said no. */
export function isRefusal(error: unknown): boolean {
  return (error as { code?: unknown } | null)?.code === userRejected
}

/** Throws WALLET_REFUSED or WALLET_FAILED. */
export async function askWallet(
  wallet: Eip1193Provider,
  method: string,
  params: unknown[],
): Promise<unknown> {
  try {
    return await wallet.request({ method, params })
  } catch (cause) {
    if (isRefusal(cause)) throw clientError('WALLET_REFUSED', undefined, { cause })
    throw clientError('WALLET_FAILED', reasonOf(cause), { cause })
  }
}

/**
 * The account the user lets the page use, in lower case; the user is asked where that is not settled. Throws WALLET_REFUSED or
 * WALLET_FAILED.
 */
export async function askForAccount(wallet: Eip1193Provider): Promise<string> {
  const accounts = await askWallet(wallet, 'eth_requestAccounts', [])
  const account: unknown = Array.isArray(accounts) ? accounts[0] : undefined
  if (!isAddress(account)) throw clientError('WALLET_FAILED', 'it has no account')
  return account.toLowerCase()
}
