import { storageRegistry, textOf } from '@runnel/contracts'
import { toNodeId, toStreamId } from '@runnel/protocol'
import { compare } from '../order.ts'
import type { StorageNodeInfo, StorageRegistryReader, StorageRegistryWriter } from '../ports.ts'
import type { ChainAccount } from './chain-account.ts'
import type { ChainConnection } from './chain-connection.ts'
import { readPages } from './read-pages.ts'
import type { TransactionSender } from './transaction-sender.ts'

/** Reads storage nodes and their assigned streams from the contract. */
export function createChainStorageReader(
  address: string,
  connection: ChainConnection,
): StorageRegistryReader {
  const contract = storageRegistry(address, connection.provider)
  return {
    storageNodesOf: async (streamId) => toInfos(await connection.call(() => contract.nodesOf(streamId))),
    listStorageNodes: async () => toInfos(await readPages(connection, contract.listNodes)),
    async streamsStoredBy(nodeId) {
      // At one block, as a removal moves the last entry onto its place. Pages with deleted streams are shorter, so the count says where to end.
      const blockTag = await connection.call(() => connection.provider.getBlockNumber())
      const count = Number(await connection.call(() => contract.streamCountOf(nodeId, { blockTag })))
      const pages = await Promise.all(
        Array.from({ length: Math.ceil(count / pageSize) }, (_, page) =>
          connection.call(() => contract.streamsOf(nodeId, page * pageSize, pageSize, { blockTag })),
        ),
      )
      return pages.flat().map(toStreamId).sort(compare)
    },
  }
}

/** Streams of a storage node read at once. */
const pageSize = 100

/** Reachable nodes only: entries whose URL is not text are skipped. */
function toInfos(nodes: readonly { node: string; url: string }[]): StorageNodeInfo[] {
  return nodes
    .map((entry) => ({ nodeId: toNodeId(entry.node), url: textOf(() => entry.url) }))
    .filter(({ url }) => url !== '')
    .sort((a, b) => compare(a.nodeId, b.nodeId))
}

/** Assigns streams to storage nodes, in the name of the account. */
export function createChainStorageWriter(
  address: string,
  sender: TransactionSender,
  account: ChainAccount,
): StorageRegistryWriter {
  const contract = storageRegistry(address, account.signer)
  return {
    assign: (streamId, nodeId) => sender.send((overrides) => contract.assign(streamId, nodeId, overrides)),
    unassign: (streamId, nodeId) =>
      sender.send((overrides) => contract.unassign(streamId, nodeId, overrides)),
    register: (url) =>
      sender.send(async (overrides) => {
        const known = await contract.isRegistered(account.id)
        return known ? contract.updateNode(url, '', overrides) : contract.registerNode(url, '', overrides)
      }),
  }
}
