import type { Tracker } from '@runnel/tracker'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { Clients, nextStatus, startTracker, take } from './client.testkit.ts'
import { memoryStore } from './identity/session-store.ts'
import { openRegistry, type ClientConfig, type RegistryService, type RunnelClient } from './index.ts'
import { mined, startTestChain, type TestChain } from './registry/chain.testkit.ts'
import { deployMultisig, multisigSigner, type Multisig } from './registry/multisig.testkit.ts'

const registrySettings = { pollIntervalMs: 20, maxAgeMs: 200 }

let chain: TestChain
let registry: RegistryService
let tracker: Tracker
let clients: Clients
let account: Multisig
let reader: Partial<ClientConfig>
let streamId: string

beforeAll(async () => {
  chain = await startTestChain()
  const network = { kind: 'chain', rpcUrl: chain.url, registries: chain.registries } as const
  registry = await openRegistry({ network, registry: registrySettings })
  tracker = await startTracker()
  await mined(chain.trackers.addTracker(tracker.nodeId, tracker.url, ''))
  clients = new Clients({ network, registry: registrySettings })
  account = await deployMultisig(chain.accounts[0].wallet)
  reader = { privateKey: chain.accounts[0].privateKey }
  const owner = await clients.create(reader)
  const stream = await owner.createStream({ path: 'team' })
  streamId = stream.id
  await owner.grant(streamId, { user: account.nodeId, permissions: ['publish', 'subscribe'] })
  await owner.close()
})
afterEach(() => clients.closeAll())
afterAll(async () => {
  await tracker.stop()
  await registry.stop()
  await chain.stop()
})

it('a contract account publishes as itself, until an owner who signed for it is removed', async () => {
  const signer = multisigSigner(account, account.owners)
  const hears = await clients.create(reader)
  const subscription = await hears.subscribe(streamId)
  const team = await clients.create({ signer })
  expect(team.userId).toBe(account.nodeId)
  await team.publish(streamId, 'of the team')
  expect((await take(subscription, 1))[0]).toMatchObject({
    content: 'of the team',
    publisherId: account.nodeId,
  })

  const alone = [hears, team].map((client) => nextStatus(client, 'neighbours', ({ neighbours }) => neighbours.length === 0))
  await account.removeOwner(account.owners[0])
  await Promise.all(alone)
  const revoked = { code: 'DELEGATION_REVOKED', message: expect.stringContaining(account.nodeId) }
  await expect(team.publish(streamId, 'too late')).rejects.toMatchObject(revoked)
  const late = await clients.create({ signer })
  await expect(late.publish(streamId, 'too late')).rejects.toMatchObject(revoked)
}, 20_000)
