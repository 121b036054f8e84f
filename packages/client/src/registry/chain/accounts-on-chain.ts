import { acceptsSignature } from '@runnel/contracts'
import { toHex } from '@runnel/protocol'
import type { AccountsOnChain } from '../../identity/request-signature.ts'
import type { ContractReader } from '../ports.ts'
import type { ChainConnection } from './chain-connection.ts'

/** Which users are contracts, as the chain says now. The calls throw CHAIN_UNREACHABLE or CHAIN_CALL_FAILED. */
export function accountsOnChain(connection: ChainConnection): AccountsOnChain {
  const { provider } = connection
  return {
    contractBlock: (address) =>
      connection.call(async () =>
        (await provider.getCode(address)) === '0x' ? 0 : provider.getBlockNumber(),
      ),
  }
}

/** Asks contracts for their signatures, at the newest block. */
export function contractsOnChain(connection: ChainConnection): ContractReader {
  const { provider } = connection
  return {
    accepts: ({ userId: account, digest, signature }) =>
      connection.call(() =>
        acceptsSignature(provider, { account, digest: toHex(digest), signature, blockTag: 'latest' }),
      ),
  }
}
