import {
  deployRegistries,
  FOREVER,
  Permission,
  storageRegistry,
  streamRegistry,
  trackerRegistry,
  untilMined,
  type RegistryAddresses,
} from '@runnel/contracts'
import type { NodeId, StreamId } from '@runnel/protocol'
import { parseEther, type TransactionResponse, type Wallet } from '@runnel/contracts/ethers'
import { changeList, nodeList } from '../cli/node-list.ts'
import { withWallet } from '../cli/with-chain.ts'
import { measurementKinds } from '../plugins/measurements/readings.ts'
import type { Registered } from './kept-network.ts'
import type { LocalStreams } from './local-streams.ts'

/** Enough for many thousand changes of the registries; money of the embedded chain is free. */
const fundsEther = '1000'

/** More than any of these transactions takes: the chain need not be asked for each. */
const gasLimit = 3_000_000n
/** More than a new development chain asks for, in wei. */
const gasPrice = 5_000_000_000n

/** Gives accounts funds from one that has some, and deploys the registries in the name of the first of them. */
export async function deployAsOwner(
  rpcUrl: string,
  funderKey: string,
  {
    owner,
    others,
    permissioned,
  }: {
    readonly owner: { readonly privateKey: string; readonly nodeId: NodeId }
    readonly others: readonly NodeId[]
    /** A private network: the tracker registry lists who may take part. */
    readonly permissioned: boolean
  },
): Promise<{ readonly chainId: number; readonly registries: RegistryAddresses }> {
  const value = parseEther(fundsEther)
  await withWallet({ rpcUrl }, funderKey.replace(/^0x/, ''), (funder) =>
    sendAll(
      funder,
      [owner.nodeId, ...others].map(
        (to): Transaction =>
          (fees) =>
            funder.sendTransaction({ to, value, ...fees }),
      ),
    ),
  )
  return withWallet({ rpcUrl }, owner.privateKey, async (wallet, chainId) => {
    return { chainId, registries: await deployRegistries(wallet, { permissioned }) }
  })
}

/** Where the registries of a network stand, and whose they are. */
export interface RegistryPlace {
  readonly rpcUrl: string
  readonly registries: RegistryAddresses
  readonly ownerKey: string
}

/** Users of the streams, beside their owner. */
export interface StreamUsers {
  /** May publish measurements. */
  readonly publisher: NodeId
  /** May use the private stream. */
  readonly user: NodeId
}

/** Lists the trackers and members, creates the streams that are missing, and grants permissions on those. What is there already stays. */
export async function setUpRegistries(
  { rpcUrl, registries, ownerKey }: RegistryPlace,
  { trackers, members = [] }: Pick<Registered, 'trackers' | 'members'>,
  streams: LocalStreams,
  { publisher, user }: StreamUsers,
): Promise<void> {
  await withWallet({ rpcUrl }, ownerKey, async (wallet) => {
    const listed = trackerRegistry(registries.trackerRegistry, wallet)
    const registry = streamRegistry(registries.streamRegistry, wallet)
    if (members.length > 0) {
      const list = await nodeList(registries.trackerRegistry, wallet)
      await changeList(list, 'allowNodes', await without(members, (node) => list.isNodeAllowed(node)))
    }
    const before = new Map(
      (await listed.listTrackers(0, 100)).map(({ tracker, url }) => [tracker.toLowerCase(), url]),
    )
    const wanted = new Map(trackers.map(({ nodeId, url }) => [nodeId as string, url]))
    const gone = [...before.keys()].filter((nodeId) => !wanted.has(nodeId))
    const missing = await without(idsOf(streams), (id) => registry.exists(id))
    const create = (id: StreamId, description: string, permissions: readonly Transaction[]) =>
      missing.includes(id)
        ? [
            (fees: Fees) => registry.createStream(pathOf(id), JSON.stringify({ description }), 1, [], fees),
            ...permissions,
          ]
        : []
    await sendAll(wallet, [
      ...gone.map(
        (nodeId): Transaction =>
          (fees) =>
            listed.removeTracker(nodeId, fees),
      ),
      ...trackers
        .filter(({ nodeId, url }) => before.get(nodeId) !== url)
        .map(
          ({ nodeId, url }): Transaction =>
            (fees) =>
              listed[before.has(nodeId) ? 'updateTracker' : 'addTracker'](nodeId, url, '{}', fees),
        ),
      ...measurementKinds.flatMap((kind) => {
        const id = streams.measurements[kind]
        return create(id, `${kind} of the machine the network runs on`, [
          (fees) => registry.grantPermission(id, publisher, Permission.publish, FOREVER, fees),
          (fees) => registry.setPublicPermissions(id, 0n, FOREVER, fees),
        ])
      }),
      ...create(streams.lobby, 'open to everybody', [
        (fees) => registry.setPublicPermissions(streams.lobby, FOREVER, FOREVER, fees),
      ]),
      ...create(
        streams.private,
        'encrypted',
        [Permission.publish, Permission.subscribe].map(
          (permission): Transaction =>
            (fees) =>
              registry.grantPermission(streams.private, user, permission, FOREVER, fees),
        ),
      ),
    ])
  })
}

/** Registers a storage node in its own name, and has it keep every stream. */
export async function setUpStorage(
  { rpcUrl, registries, ownerKey }: RegistryPlace,
  { privateKey, nodeId, url }: { readonly privateKey: string; readonly nodeId: NodeId; readonly url: string },
  streams: LocalStreams,
): Promise<void> {
  await withWallet({ rpcUrl }, privateKey, async (wallet) => {
    const registry = storageRegistry(registries.storageRegistry, wallet)
    const before = (await registry.isRegistered(nodeId)) ? (await registry.getNode(nodeId)).url : undefined
    if (before === url) return
    await sendAll(wallet, [
      (fees) => registry[before === undefined ? 'registerNode' : 'updateNode'](url, '{}', fees),
    ])
  })
  await withWallet({ rpcUrl }, ownerKey, async (wallet) => {
    const registry = storageRegistry(registries.storageRegistry, wallet)
    const missing = await without(idsOf(streams), (id) => registry.isAssigned(id, nodeId))
    await sendAll(
      wallet,
      missing.map(
        (id): Transaction =>
          (fees) =>
            registry.assign(id, nodeId, fees),
      ),
    )
  })
}

const idsOf = ({ measurements, ...others }: LocalStreams): readonly StreamId[] => [
  ...Object.values(measurements),
  ...Object.values(others),
]

const pathOf = (id: StreamId): string => id.slice(id.indexOf('/') + 1)

async function without<T>(items: readonly T[], isThere: (item: T) => Promise<boolean>): Promise<T[]> {
  const there = await Promise.all(items.map(isThere))
  return items.filter((_, index) => !there[index])
}

interface Fees {
  readonly nonce: number
  readonly gasLimit: bigint
  readonly gasPrice: bigint
}

type Transaction = (fees: Fees) => Promise<TransactionResponse>

/** Sends transactions one after the other, and waits for all of them together: the chain takes each at once, in the order of the nonces. */
async function sendAll(wallet: Wallet, transactions: readonly Transaction[]): Promise<void> {
  if (transactions.length === 0) return
  let nonce = await wallet.getNonce('pending')
  const sent: TransactionResponse[] = []
  for (const transaction of transactions) sent.push(await transaction({ nonce: nonce++, gasLimit, gasPrice }))
  await Promise.all(sent.map((response) => untilMined(response)))
}
