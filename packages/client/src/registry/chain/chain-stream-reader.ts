import { streamRegistry, textOf, type StreamRegistry as StreamContract } from '@runnel/contracts'
import { isRunnelError, toNodeId, toStreamId, type StreamId } from '@runnel/protocol'
import { id as keccak256OfText, ZeroAddress, type Log } from '@runnel/contracts/ethers'
import type { Permissions, PermissionTable, StreamInfo, StreamRegistry, UserPermissions } from '../ports.ts'
import { byUser, compare, hasAny } from '../order.ts'
import type { ChainConnection } from './chain-connection.ts'
import { readPages } from './read-pages.ts'
import { toUntilMs } from './until.ts'

type ContractStream = Awaited<ReturnType<StreamContract['getStream']>>
export type ContractPermissions = Awaited<ReturnType<StreamContract['directPermissions']>>

/** Streams read at once: anybody can make them so large that each takes 0.4 million gas, and endpoints allow a call 30 million or more. */
const streamsPerPage = 25

/** Reads streams and permissions from the contract. */
export function createChainStreamReader(address: string, connection: ChainConnection): StreamRegistry {
  const contract = streamRegistry(address, connection.provider)
  return {
    async getStream(streamId) {
      try {
        return toInfo(await connection.call(() => contract.getStream(streamId)))
      } catch (error) {
        if (isRunnelError(error, 'STREAM_NOT_FOUND')) return undefined
        throw error
      }
    },
    async listStreams({ owner } = {}) {
      const streams = (await readPages(connection, contract.listStreams, streamsPerPage)).map(toInfo)
      return streams
        .filter(({ id }) => owner === undefined || id.startsWith(`${owner}/`))
        .sort((a, b) => compare(a.id, b.id))
    },
    async permissionsOf(streamId, user) {
      return toPermissions(await connection.call(() => contract.effectivePermissions(streamId, user)))
    },
    permissionTable: (streamId) => permissionTable(contract, connection, streamId),
  }
}

/** The contract lists no users: events name the candidates and tell who lost what, the contract has their current permissions. */
async function permissionTable(
  contract: StreamContract,
  connection: ChainConnection,
  streamId: StreamId,
): Promise<PermissionTable> {
  const blockTag = await connection.call(() => connection.provider.getBlockNumber())
  const topics = await connection.call(async () =>
    contract.interface.encodeFilterTopics('PermissionsChanged', [keccak256OfText(streamId)]),
  )
  const logs = await connection.call(async () =>
    connection.provider.getLogs({
      address: await contract.getAddress(),
      fromBlock: 0,
      toBlock: blockTag,
      topics,
    }),
  )
  const addresses = new Set(logs.flatMap(({ topics: [, , user] }) => (user ? [`0x${user.slice(26)}`] : [])))
  const entries = await Promise.all(
    [ZeroAddress, ...addresses].map(async (address): Promise<UserPermissions> => {
      const direct = await connection.call(() => contract.directPermissions(streamId, address, { blockTag }))
      return { user: address === ZeroAddress ? 'public' : toNodeId(address), ...toPermissions(direct) }
    }),
  )
  return {
    entries: entries.filter(hasAny).sort(byUser),
    block: blockTag,
    lossBlock: lossBlockIn(logs, contract.interface),
  }
}

/** The block of the last event that takes from its user what an earlier one gave; 0 without any. The oldest first. */
function lossBlockIn(logs: readonly Log[], events: StreamContract['interface']): number {
  const before = new Map<string, Permissions>()
  let lossBlock = 0
  for (const log of logs) {
    const args = events.parseLog(log)?.args
    if (args === undefined) continue
    const user = String(args.getValue('user'))
    const now = toPermissions(args.getValue('permissions') as ContractPermissions)
    const was = before.get(user)
    const lostRead = was !== undefined && was.subscribeUntilMs > 0 && now.subscribeUntilMs === 0
    const lostGrant = was?.grant === true && !now.grant
    if (lostRead || lostGrant) lossBlock = log.blockNumber
    before.set(user, now)
  }
  return lossBlock
}

function toInfo(stream: ContractStream): StreamInfo {
  const { streamId, partitions, trackers, createdAt } = stream
  return {
    id: toStreamId(streamId),
    partitions: Number(partitions),
    metadata: textOf(() => stream.metadata),
    trackers: trackers.map(toNodeId),
    createdMs: Number(createdAt) * 1000,
  }
}

/** As the contract has them. */
export function toPermissions(permissions: ContractPermissions): Permissions {
  return {
    edit: permissions.canEdit,
    delete: permissions.canDelete,
    grant: permissions.canGrant,
    publishUntilMs: toUntilMs(permissions.publishExpiry),
    subscribeUntilMs: toUntilMs(permissions.subscribeExpiry),
  }
}
