import {
  listsNodes,
  permissionedTrackerRegistry,
  untilMined,
  type PermissionedTrackerRegistry,
} from '@runnel/contracts'
import { toNodeId, type NodeId } from '@runnel/protocol'
import type { ContractRunner } from '@runnel/contracts/ethers'
import { nodeError } from '../errors.ts'
import type { NetworkArguments } from './common-options.ts'
import { readChain } from './network-source.ts'
import { withWallet } from './with-chain.ts'
import { requireKey } from '../keys/resolve-key.ts'

/** The tracker registry of a private network. Throws NETWORK_NOT_PRIVATE. */
export async function nodeList(
  address: string,
  runner: ContractRunner,
): Promise<PermissionedTrackerRegistry> {
  if (!(await listsNodes(address, runner))) throw nodeError('NETWORK_NOT_PRIVATE', address)
  return permissionedTrackerRegistry(address, runner)
}

/** Lists nodes or removes them from the list, in as many transactions as it takes. Throws NETWORK_NOT_PRIVATE. */
export async function changeNodes(
  change: 'allowNodes' | 'removeNodes',
  nodes: readonly NodeId[],
  { network, key }: NetworkArguments,
): Promise<void> {
  const chain = readChain(network)
  await withWallet(chain, requireKey({ key, env: process.env }), async (wallet) => {
    await changeList(await nodeList(chain.registries.trackerRegistry, wallet), change, nodes)
  })
}

/** As `changeNodes`, of a list that is known. */
export async function changeList(
  list: PermissionedTrackerRegistry,
  change: 'allowNodes' | 'removeNodes',
  nodes: readonly NodeId[],
): Promise<void> {
  const perCall = Number(await list.MAX_NODES_PER_CALL())
  for (let from = 0; from < nodes.length; from += perCall) {
    await untilMined(await list[change](nodes.slice(from, from + perCall)))
  }
}

/** Nodes read from the chain at once. */
const nodesPerPage = 1000

/** All listed nodes, in the order of their ids. */
export async function readNodes(list: PermissionedTrackerRegistry, blockTag: number): Promise<NodeId[]> {
  const count = Number(await list.nodeCount({ blockTag }))
  const nodes: NodeId[] = []
  while (nodes.length < count) {
    const page = await list.listNodes(nodes.length, nodesPerPage, { blockTag })
    nodes.push(...page.map(toNodeId))
  }
  return nodes.sort()
}
