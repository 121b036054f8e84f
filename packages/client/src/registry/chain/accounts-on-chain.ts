import type { AccountsOnChain } from '../../identity/request-delegation.ts'
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
