import { acceptsSignature, delegationRevokedAt, streamRegistry } from '@runnel/contracts'
import { delegationTypedData } from '@runnel/protocol'
import type { BlockTag } from '@runnel/contracts/ethers'
import { clientError } from '../../errors.ts'
import type { DelegationRegistryReader, DelegationRegistryWriter } from '../ports.ts'
import type { ChainAccount } from './chain-account.ts'
import type { ChainConnection } from './chain-connection.ts'
import { hashOfTypedData } from './hash-of-typed-data.ts'
import type { TransactionSender } from './transaction-sender.ts'

/** Reads from the stream registry which delegations were ended, and asks users that are contracts for their signatures. */
export function createChainDelegationReader(
  address: string,
  connection: ChainConnection,
): DelegationRegistryReader {
  const { provider } = connection
  return {
    hasContracts: true,
    async revokedMs(delegation) {
      const seconds = await connection.call(() => delegationRevokedAt(address, provider, delegation))
      // In a registry of an earlier version nothing can be ended.
      return seconds === undefined || seconds === 0n ? Infinity : Number(seconds) * 1000
    },
    async isBacked(delegation, at) {
      const digest = hashOfTypedData(delegationTypedData(delegation))
      const { userId: account, signature, block } = delegation
      const ask = (blockTag: BlockTag) => acceptsSignature(provider, { account, digest, signature, blockTag })
      if (at === 'signed') {
        // Many endpoints do not keep old states, and say so each in its way.
        const then = await ask(block).catch(() => undefined)
        if (then !== undefined) return then
      }
      return connection.call(() => ask('latest'))
    },
  }
}

/** Ends delegations of the account in the stream registry. */
export function createChainDelegationWriter(
  address: string,
  {
    connection,
    sender,
    account,
  }: { connection: ChainConnection; sender: TransactionSender; account: ChainAccount },
): DelegationRegistryWriter {
  const contract = streamRegistry(address, account.signer)
  const requireSupport = async () => {
    const key = { userId: account.id, delegateId: account.id, fromMs: 0 }
    const answer = await connection.call(() => delegationRevokedAt(address, connection.provider, key))
    if (answer === undefined) throw clientError('REGISTRY_OUTDATED', `stream registry ${address}`)
  }
  return {
    async revokeDelegate(delegateId) {
      await requireSupport()
      await sender.send((overrides) => contract.revokeDelegate(delegateId, overrides))
    },
    async revokeDelegations(begunByMs) {
      await requireSupport()
      await sender.send((overrides) => contract.revokeDelegations(begunByMs, overrides))
    },
  }
}
