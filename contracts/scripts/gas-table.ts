// Writes the table of costs in docs/questions.md from what a real EVM charges:  node --conditions=runnel-src contracts/scripts/gas-table.ts
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath, pathToFileURL } from 'node:url'
import {
  deployRegistries,
  FOREVER,
  Permission,
  permissionedTrackerRegistry,
  storageRegistry,
  streamRegistry,
  trackerRegistry,
} from '../src/index.ts'
import { startAnvil } from '../src/anvil.ts'
import { formatUnits, JsonRpcProvider, Wallet, type TransactionResponse } from 'ethers'

const page = new URL('../../docs/questions.md', import.meta.url)
const [begin, end] = ['<!-- gas: begin -->', '<!-- gas: end -->']

/** What a call is for, and how much gas it took. */
type Cost = readonly [what: string, gas: bigint]

/** The page with the table as the chain says it is. */
export async function withGasTable(text: string): Promise<string> {
  const rows = (await measure()).map(
    ([what, gas]) => `| ${what} | ${gas.toLocaleString('en')} | ${formatUnits(gas, 9)} |`,
  )
  const table = ['| call | gas | in ether, at 1 gwei |', '| --- | ---: | ---: |', ...rows].join('\n')
  return text.replace(new RegExp(`${begin}[^]*${end}`), () => `${begin}\n\n${table}\n\n${end}`)
}

async function measure(): Promise<Cost[]> {
  const anvil = await startAnvil()
  // Neither a cache nor four seconds between polls.
  const provider = new JsonRpcProvider(anvil.url, 31337, { staticNetwork: true, cacheTimeout: -1 })
  provider.pollingInterval = 20
  try {
    const [owner, other] = anvil.privateKeys.map((key) => new Wallet(key, provider))
    if (!owner || !other) throw new Error('the chain has no accounts')
    return await measureCalls(provider, owner, other)
  } finally {
    provider.destroy()
    await anvil.stop()
  }
}

async function measureCalls(provider: JsonRpcProvider, owner: Wallet, other: Wallet): Promise<Cost[]> {
  const costs: Cost[] = []
  const cost = async (what: string, sending: Promise<TransactionResponse>) => {
    const receipt = await (await sending).wait()
    costs.push([what, receipt?.gasUsed ?? 0n])
  }
  const deploy = async (what: string, permissioned: boolean) => {
    const first = await provider.getBlockNumber()
    const addresses = await deployRegistries(owner, { permissioned })
    let gas = 0n
    for (let block = first + 1; block <= first + 3; block++)
      gas += (await provider.getBlock(block))?.gasUsed ?? 0n
    costs.push([what, gas])
    return addresses
  }
  const open = await deploy('deploy the registries, once for a network', false)
  const closed = await deploy('the same of a private network', true)
  const streams = streamRegistry(open.streamRegistry, owner)
  const storage = storageRegistry(open.storageRegistry, owner)
  const trackers = trackerRegistry(open.trackerRegistry, owner)
  const members = permissionedTrackerRegistry(closed.trackerRegistry, owner)
  const stream = `${owner.address.toLowerCase()}/sensors/kitchen`
  const user = other.address

  await cost('`stream create`', streams.createStream('sensors/kitchen', '{}', 1, []))
  await cost('`stream update`, new metadata', streams.updateStream(stream, '{"description":"kitchen"}', 1))
  await cost(
    '`stream grant`, one permission for one user',
    streams.grantPermission(stream, user, Permission.publish, FOREVER),
  )
  await cost(
    '`stream grant`, a second one',
    streams.grantPermission(stream, user, Permission.subscribe, FOREVER),
  )
  await cost('`stream revoke`', streams.revokePermission(stream, user, Permission.subscribe))
  await cost('`stream grant … public`', streams.setPublicPermissions(stream, 0n, FOREVER))
  await cost('`registry add-storage`', storage.connect(other).registerNode('wss://storage.example', '{}'))
  await cost('`storage add`', storage.assign(stream, user))
  await cost('`storage remove`', storage.unassign(stream, user))
  await cost('`key revoke`, a delegation', streams.revokeDelegate(user))
  await cost('`stream delete`', streams.deleteStream(stream))
  await cost('`registry add-tracker`', trackers.addTracker(user, 'wss://tracker.example', '{}'))
  await cost('`registry allow-node`, a member of a private network', members.allowNodes([user]))
  await cost('`registry remove-node`', members.removeNodes([user]))
  return costs
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  writeFileSync(fileURLToPath(page), await withGasTable(readFileSync(page, 'utf8')))
}
