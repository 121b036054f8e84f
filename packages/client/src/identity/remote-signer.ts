import { clientError } from '../errors.ts'
import { JsonRpcOverHttp } from './json-rpc-over-http.ts'
import { isAddress, isHex, rpcFees, rpcTransaction } from './quantities.ts'
import type { Signer } from './signer.ts'

/** How to reach a program that holds keys and signs with them, such as Web3Signer in front of a hardware module. */
export interface RemoteSignerOptions {
  /** https://…, or http:// to this machine. */
  readonly url: string
  /** The user's address. Without it, the signer is asked and must have exactly one account. With it, the signer is not asked. */
  readonly address?: string | undefined
  /** Sent as `Authorization: Bearer …`, for a guard in front of the signer. In Node `readTokenFile` reads it from a file. */
  readonly token?: string | undefined
  /** How long an answer may take. Default 30,000. */
  readonly timeoutMs?: number | undefined
  /** False if people must agree to each signature, so that they are not asked unexpectedly. Default true. */
  readonly isSilent?: boolean | undefined
}

/** How long a remote signer may take to answer, unless `timeoutMs` says otherwise. */
const remoteSignerTimeoutMs = 30_000

/**
 * Makes a signer that signs over HTTP, like Web3Signer for Ethereum accounts (`web3signer eth1`): JSON-RPC with `eth_accounts`,
 * `eth_signTypedData` and `eth_signTransaction`. It needs no chain: this process sends the transactions. Throws INVALID_ARGUMENT; the
 * calls throw SIGNER_UNREACHABLE, SIGNER_REFUSED, SIGNER_FAILED, SIGNER_OTHER_CHAIN or ABORTED.
 */
export function remoteSigner(options: RemoteSignerOptions): Signer {
  const { url, token, timeoutMs = remoteSignerTimeoutMs, isSilent = true } = options
  if (options.address !== undefined && !isAddress(options.address)) {
    throw clientError('INVALID_ARGUMENT', 'the address of a remote signer is 0x and 40 hexadecimal digits')
  }
  const rpc = new JsonRpcOverHttp({ url, token, timeoutMs })
  let known = options.address?.toLowerCase()
  const address = async (signal?: AbortSignal): Promise<string> =>
    (known ??= onlyAccount(await rpc.call('eth_accounts', [], signal)))
  const askForHex = async (method: string, params: unknown[], signal?: AbortSignal): Promise<string> => {
    const answer = await rpc.call(method, params, signal)
    if (!isHex(answer)) throw clientError('SIGNER_FAILED', `it gave nothing for ${method}`)
    return answer
  }
  return {
    isSilent,
    address,
    async signTypedData(data, signal) {
      // Web3Signer takes the data as text.
      return askForHex('eth_signTypedData', [await address(signal), JSON.stringify(data)], signal)
    },
    async sendTransaction(transaction, broadcast, signal) {
      const account = await address(signal)
      const wanted = { ...rpcTransaction(transaction, account), ...rpcFees(transaction.fees) }
      // It signs for the chain of its own settings: `broadcast` looks whether that is the right one.
      return broadcast({ transaction: await askForHex('eth_signTransaction', [wanted], signal) })
    },
  }
}

function onlyAccount(accounts: unknown): string {
  if (!Array.isArray(accounts)) throw clientError('SIGNER_FAILED', 'it gave no list of accounts')
  const [account, ...others]: unknown[] = accounts
  if (!isAddress(account)) throw clientError('SIGNER_FAILED', 'it has no account')
  if (others.length > 0) {
    throw clientError(
      'INVALID_ARGUMENT',
      `the signer has ${accounts.length} accounts: give the address of one`,
    )
  }
  return account.toLowerCase()
}
