import { clientError, reasonOf } from './errors.ts'

/** What a page is given of an Ethereum wallet (EIP-1193): `window.ethereum`, or what EIP-6963 announces. */
export interface Eip1193Provider {
  request(request: { method: string; params?: unknown[] | Record<string, unknown> }): Promise<unknown>
}

/** The wallet's user said no (EIP-1193, section "Provider Errors"). */
const userRejected = 4001

/** Throws WALLET_REFUSED or WALLET_FAILED. */
export async function askWallet(
  wallet: Eip1193Provider,
  method: string,
  params: unknown[],
): Promise<unknown> {
  try {
    return await wallet.request({ method, params })
  } catch (cause) {
    const refused = (cause as { code?: unknown } | null)?.code === userRejected
    if (refused) throw clientError('WALLET_REFUSED', undefined, { cause })
    throw clientError('WALLET_FAILED', reasonOf(cause), { cause })
  }
}

/** The account the user lets the page use; the user is asked where that is not settled. Throws WALLET_REFUSED or WALLET_FAILED. */
export async function askForAccount(wallet: Eip1193Provider): Promise<string> {
  const accounts = await askWallet(wallet, 'eth_requestAccounts', [])
  const account: unknown = Array.isArray(accounts) ? accounts[0] : undefined
  if (typeof account !== 'string') throw clientError('WALLET_FAILED', 'it has no account')
  return account
}
