import { Permission, streamRegistry } from '@runnel/contracts'
import { ZeroAddress } from '@runnel/contracts/ethers'
import { clientError } from '../../errors.ts'
import type { Grant, StreamRegistryWriter } from '../ports.ts'
import type { ChainAccount } from './chain-account.ts'
import type { Nonce, TransactionSender } from './transaction-sender.ts'
import { toContractSeconds } from './until.ts'

/** Writes streams and permissions to the contract, in the name of the account. */
export function createChainStreamWriter(
  address: string,
  sender: TransactionSender,
  account: ChainAccount,
): StreamRegistryWriter {
  const contract = streamRegistry(address, account.signer)
  const changing = new Map<string, Promise<unknown>>()
  /** What replaces what it has read waits for the stream's change before it, which it would undo otherwise. */
  const inTurn = (streamId: string, change: () => Promise<void>): Promise<void> => {
    const done = (changing.get(streamId) ?? Promise.resolve()).then(change)
    const over: Promise<unknown> = done
      .catch(() => {})
      .finally(() => {
        if (changing.get(streamId) === over) changing.delete(streamId)
      })
    changing.set(streamId, over)
    return done
  }

  /** The contract replaces both public permissions at once: so the one not named is passed unchanged. */
  const setPublic = async (streamId: string, { permissions }: Omit<Grant, 'untilMs'>, expiry: bigint) => {
    const other = permissions.find((name) => name !== 'publish' && name !== 'subscribe')
    if (other !== undefined) throw clientError('INVALID_ARGUMENT', `${other} cannot be public`)
    const change = async (overrides: Nonce) => {
      const now = await contract.directPermissions(streamId, ZeroAddress)
      return contract.setPublicPermissions(
        streamId,
        permissions.includes('publish') ? expiry : now.publishExpiry,
        permissions.includes('subscribe') ? expiry : now.subscribeExpiry,
        overrides,
      )
    }
    await inTurn(streamId, () => sender.send(change))
  }

  return {
    async createStream({ id, metadata, partitions, trackers }) {
      const owner = account.id
      if (!id.startsWith(`${owner}/`)) throw clientError('NOT_STREAM_OWNER', `${id} is not under ${owner}`)
      const path = id.slice(owner.length + 1)
      await sender.send((overrides) => contract.createStream(path, metadata, partitions, trackers, overrides))
    },
    async updateStream(streamId, { metadata, partitions, trackers }) {
      // The contract replaces both at once: what is not named is passed unchanged.
      const change = async (overrides: Nonce) => {
        const now = await contract.getStream(streamId)
        return contract.updateStream(
          streamId,
          metadata ?? now.metadata,
          partitions ?? now.partitions,
          overrides,
        )
      }
      if (metadata !== undefined || partitions !== undefined)
        await inTurn(streamId, () => sender.send(change))
      if (trackers !== undefined)
        await sender.send((overrides) => contract.setTrackers(streamId, trackers, overrides))
    },
    deleteStream: (streamId) => sender.send((overrides) => contract.deleteStream(streamId, overrides)),
    async grant(streamId, grant) {
      const expiry = toContractSeconds(grant.untilMs)
      const { user } = grant
      if (user === 'public') return setPublic(streamId, grant, expiry)
      await allOf(grant.permissions, (name) =>
        sender.send((overrides) =>
          contract.grantPermission(streamId, user, Permission[name], expiry, overrides),
        ),
      )
    },
    async revoke(streamId, revoked) {
      const { user } = revoked
      if (user === 'public') return setPublic(streamId, revoked, 0n)
      await allOf(revoked.permissions, (name) =>
        sender.send((overrides) => contract.revokePermission(streamId, user, Permission[name], overrides)),
      )
    },
  }
}

/** Waits for all even if one fails, so that nothing is pending afterwards. */
async function allOf<T>(items: readonly T[], run: (item: T) => Promise<void>): Promise<void> {
  const results = await Promise.allSettled(items.map(run))
  for (const result of results) if (result.status === 'rejected') throw result.reason
}
