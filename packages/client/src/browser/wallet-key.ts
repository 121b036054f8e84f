/// <reference lib="dom" />
import { loadCrypto, parsePrivateKey, toHex } from '@runnel/protocol'
import { clientError } from '../errors.ts'
import { askForAccount, askWallet, type Eip1193Provider } from '../wallet.ts'

export interface WalletKey {
  /** For `ClientConfig.privateKey`. */
  readonly privateKey: string
  /** The wallet's account that it was made from, in lower case. */
  readonly account: string
}

/**
 * A key for this page's client, made from one signature of an Ethereum wallet: the same each time, as long as the wallet signs
 * deterministically (RFC 6979), as wallets with a private key do. A wallet cannot be the key itself, because a node signs every
 * link and every batch. The key is a different identity from the account, which must grant it its permissions. Throws NO_WALLET,
 * WALLET_REFUSED or WALLET_FAILED.
 */
export async function keyFromWallet(wallet: Eip1193Provider | undefined): Promise<WalletKey> {
  if (wallet === undefined) throw clientError('NO_WALLET')
  const account = await askForAccount(wallet)
  const message = new TextEncoder().encode(textOf(location.origin))
  const signature = await askWallet(wallet, 'personal_sign', [toHex(message), account])
  if (typeof signature !== 'string' || !/^0x([0-9a-fA-F]{2})+$/.test(signature)) {
    throw clientError('WALLET_FAILED', 'it gave no signature')
  }
  const { keccak256 } = await loadCrypto()
  const privateKey = toHex(keccak256(new TextEncoder().encode(signature.toLowerCase())))
  parsePrivateKey(privateKey)
  return { privateKey, account: account.toLowerCase() }
}

/** Names the origin, so that the signing user sees who asks; each origin gets its own key. */
const textOf = (origin: string): string =>
  `Make the Runnel key of ${origin}\n\nWhoever has this signature can publish and subscribe as that key. It moves no money.`
