import {
  deployRegistries,
  FOREVER,
  Permission,
  storageRegistry,
  streamRegistry,
  trackerRegistry,
  type RegistryAddresses,
} from '@runnel/contracts'
import { toStreamId, type NodeId, type StreamId } from '@runnel/protocol'
import { parseEther, type TransactionResponse, type Wallet } from '@runnel/contracts/ethers'
import { changeList, nodeList } from '../cli/node-list.ts'
import { withWallet } from '../cli/with-chain.ts'
import { measurementKinds, type MeasurementKind } from '../plugins/measurements/readings.ts'

/** Enough for many thousand changes of the registries; money of the embedded chain is free. */
const fundsEther = '1000'

/** Streams of a local network. */
export interface LocalStreams {
  readonly measurements: Readonly<Record<MeasurementKind, StreamId>>
  /** Everybody may publish and subscribe. */
  readonly lobby: StreamId
  /** Encrypted: the owner and the user may publish and subscribe. */
  readonly private: StreamId
}

/** All of them. */
const streamIdsOf = ({ measurements, ...others }: LocalStreams): readonly StreamId[] => [
  ...Object.values(measurements),
  ...Object.values(others),
]

export interface Deployment {
  readonly owner: { readonly privateKey: string; readonly nodeId: NodeId }
  /** Other accounts that get funds. */
  readonly others: readonly NodeId[]
  /** The nodes that may take part in a private network. Undefined: anybody may. */
  readonly members: readonly NodeId[] | undefined
}

/** Gives the owner and others funds from an account that has some, and deploys the registries in the owner's name. */
export async function deployAsOwner(
  rpcUrl: string,
  funderKey: string,
  { owner, others, members }: Deployment,
): Promise<{ readonly chainId: number; readonly registries: RegistryAddresses }> {
  await withWallet({ rpcUrl }, funderKey.replace(/^0x/, ''), async (funder) => {
    const value = parseEther(fundsEther)
    await sendInOrder(
      funder,
      [owner.nodeId, ...others].map(
        (to): Transaction =>
          (nonce) =>
            funder.sendTransaction({ to, value, ...nonce }),
      ),
    )
  })
  return withWallet({ rpcUrl }, owner.privateKey, async (wallet, chainId) => {
    const registries = await deployRegistries(wallet, { permissioned: members !== undefined })
    if (members !== undefined)
      await changeList(await nodeList(registries.trackerRegistry, wallet), 'allowNodes', members)
    return { chainId, registries }
  })
}

export interface RegistrySetup {
  readonly rpcUrl: string
  readonly registries: RegistryAddresses
  readonly ownerKey: string
  /** The account that may publish measurements. */
  readonly publisher: NodeId
  /** The account that may use the private stream, beside the owner. */
  readonly user: NodeId
  readonly trackers: readonly { readonly nodeId: NodeId; readonly url: string }[]
}

/** Registers the trackers, creates the streams, and grants the permissions to publish and subscribe. */
export async function setUpRegistries(setup: RegistrySetup): Promise<LocalStreams> {
  const { rpcUrl, registries, ownerKey, publisher, user, trackers } = setup
  return withWallet({ rpcUrl }, ownerKey, async (wallet) => {
    const streams = streamRegistry(registries.streamRegistry, wallet)
    const trackerList = trackerRegistry(registries.trackerRegistry, wallet)
    const idOf = (path: string) => toStreamId(`${wallet.address.toLowerCase()}/${path}`)
    const [lobby, privateStream] = [idOf('lobby'), idOf('private')]
    const described = (description: string) => JSON.stringify({ description })
    await sendInOrder(wallet, [
      ...trackers.map(
        ({ nodeId, url }): Transaction =>
          (nonce) =>
            trackerList.addTracker(nodeId, url, '{}', nonce),
      ),
      ...measurementKinds.flatMap((kind): Transaction[] => [
        (nonce) => streams.createStream(`system/${kind}`, metadataOf(kind), 1, [], nonce),
        (nonce) =>
          streams.grantPermission(idOf(`system/${kind}`), publisher, Permission.publish, FOREVER, nonce),
        (nonce) => streams.setPublicPermissions(idOf(`system/${kind}`), 0n, FOREVER, nonce),
      ]),
      (nonce) => streams.createStream('lobby', described('open to everybody'), 1, [], nonce),
      (nonce) => streams.setPublicPermissions(lobby, FOREVER, FOREVER, nonce),
      (nonce) => streams.createStream('private', described('encrypted'), 1, [], nonce),
      ...[Permission.publish, Permission.subscribe].map(
        (permission): Transaction =>
          (nonce) =>
            streams.grantPermission(privateStream, user, permission, FOREVER, nonce),
      ),
    ])
    const byKind = measurementKinds.map((kind) => [kind, idOf(`system/${kind}`)] as const)
    const measurements = Object.fromEntries(byKind) as LocalStreams['measurements']
    return { measurements, lobby, private: privateStream }
  })
}

/** Where the registries of a network stand. */
export type RegistryPlace = Pick<RegistrySetup, 'rpcUrl' | 'registries'>

/** Registers a storage node in its own name. */
export async function registerStorage(
  { rpcUrl, registries }: RegistryPlace,
  storageKey: string,
  url: string,
): Promise<void> {
  await withWallet({ rpcUrl }, storageKey, async (wallet) => {
    const registry = storageRegistry(registries.storageRegistry, wallet)
    await (await registry.registerNode(url, '{}')).wait()
  })
}

/** Has a storage node keep every stream. */
export async function assignStorage(
  { rpcUrl, registries }: RegistryPlace,
  ownerKey: string,
  storageId: NodeId,
  streams: LocalStreams,
): Promise<void> {
  await withWallet({ rpcUrl }, ownerKey, async (wallet) => {
    const registry = storageRegistry(registries.storageRegistry, wallet)
    await sendInOrder(
      wallet,
      streamIdsOf(streams).map(
        (streamId): Transaction =>
          (nonce) =>
            registry.assign(streamId, storageId, nonce),
      ),
    )
  })
}

function metadataOf(kind: MeasurementKind): string {
  return JSON.stringify({ description: `${kind} of the machine the network runs on` })
}

type Transaction = (overrides: { readonly nonce: number }) => Promise<TransactionResponse>

/** Sends transactions one after the other, counting the nonce itself: a provider's may be out of date. */
async function sendInOrder(wallet: Wallet, transactions: readonly Transaction[]): Promise<void> {
  let nonce = await wallet.getNonce('pending')
  for (const transaction of transactions) await (await transaction({ nonce: nonce++ })).wait()
}
