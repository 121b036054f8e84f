import { toStreamId, toStreamPartId } from '@runnel/protocol'
import type { Tracker } from '@runnel/tracker'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { Clients, newIdentity, nextStatus, startTracker, take } from './client.testkit.ts'
import { memoryStore } from './identity/session-store.ts'
import { openRegistry, type ClientConfig, type RegistryService, type RunnelClient } from './index.ts'
import { mined, startTestChain, type TestChain } from './registry/chain.testkit.ts'
import { deployMultisig, multisigSigner, type Multisig } from './registry/multisig.testkit.ts'

let chain: TestChain
let registry: RegistryService
let tracker: Tracker
let clients: Clients
let account: Multisig
let streamId: string
let paths = 0

beforeAll(async () => {
  chain = await startTestChain()
  const network = { kind: 'chain', rpcUrl: chain.url, registries: chain.registries } as const
  // No event tells that a contract backs a signature no longer: it is found out when the answer is too old.
  const config = { network, registry: { pollIntervalMs: 20, maxAgeMs: 200 } }
  registry = await openRegistry(config)
  const permissions = { readers: registry.readerPolicy, publishers: registry.publisherPolicy }
  tracker = await startTracker(newIdentity(), { permissions })
  await mined(chain.trackers.addTracker(tracker.nodeId, tracker.url, ''))
  clients = new Clients(config)
})
/** A contract's reading key would have to be given to each client. */
const inTheClear = { encryption: { content: 'never' } }

beforeEach(async () => {
  account = await deployMultisig(chain.accounts[0].wallet)
  const owner = await createOwner()
  streamId = (await owner.createStream({ path: `team/${paths++}`, metadata: inTheClear })).id
  await owner.grant(streamId, { user: account.nodeId, permissions: ['publish', 'subscribe'] })
  await owner.close()
})
afterEach(() => clients.closeAll())
afterAll(async () => {
  await tracker.stop()
  await registry.stop()
  await chain.stop()
})

/** Of the streams. It does not wait for others, which may have been turned away. */
const createOwner = () => clients.create({ privateKey: chain.accounts[0].privateKey, waitForNeighboursMs: 0 })
const signedBy = (owners: Multisig['owners'][number][]): Partial<ClientConfig> => ({
  signer: multisigSigner(account, owners),
})
const alone = (client: RunnelClient) =>
  nextStatus(client, 'neighbours', ({ neighbours }) => neighbours.length === 0)
const notBacked = () => ({
  code: 'DELEGATION_REVOKED',
  message: expect.stringContaining(`the contract ${account.nodeId} does not back it`),
})

describe('a contract account of two of three owners', () => {
  it('publishes and reads as itself', async () => {
    const [owner, team] = [await createOwner(), await clients.create(signedBy([...account.owners]))]
    expect(team.userId).toBe(account.nodeId)
    const [heard, heardByTeam] = [await owner.subscribe(streamId), await team.subscribe(streamId)]
    await team.publish(streamId, 'from the team')
    const expected = { content: 'from the team', publisherId: account.nodeId }
    expect((await take(heard, 1))[0]).toMatchObject(expected)
    await owner.publish(streamId, 'to the team')
    const contents = (await take(heardByTeam, 2)).map(({ content }) => content)
    expect(contents).toEqual(['from the team', 'to the team'])
  })

  it('is not acted for by one of them', async () => {
    const one = await clients.create(signedBy(account.owners.slice(1)))
    await expect(one.publish(streamId, 'alone')).rejects.toMatchObject(notBacked())
    await expect(one.subscribe(streamId)).rejects.toMatchObject(notBacked())
  })

  it('is not acted for any more by whom an owner signed for who was removed', async () => {
    const config = signedBy([...account.owners])
    const [owner, team] = [await createOwner(), await clients.create(config)]
    const heard = await owner.subscribe(streamId)
    await team.publish(streamId, 'in time')
    expect((await take(heard, 1))[0]?.content).toBe('in time')

    const apart = [owner, team].map(alone)
    await account.removeOwner(account.owners[0])
    await Promise.all(apart)
    // Refused when it has asked the contract again; until then it reaches nobody.
    await Promise.allSettled([team.publish(streamId, 'too late')])

    const late = await clients.create(config)
    await expect(late.publish(streamId, 'too late')).rejects.toMatchObject(notBacked())
    // Its node comes all the same.
    const refused = new Promise<string>((resolve) => {
      late.network.on('dropped', (counter, detail) => counter === 'tracker.refused' && resolve(detail))
    })
    late.network.join(toStreamPartId(toStreamId(streamId), 0))
    expect(await refused).toMatch(/^NOT_PERMITTED/)
    await owner.publish(streamId, 'the last')
    expect((await take(heard, 1))[0]?.content).toBe('the last')
  })

  it('is asked for a new delegation when it backs the kept one no longer', async () => {
    const sessions = memoryStore()
    await clients.create(signedBy([...account.owners]), { sessions })
    await account.removeOwner(account.owners[0])
    const third = chain.accounts[0].wallet
    const after = await clients.create(signedBy([account.owners[1], third]), { sessions })
    const heard = await (await createOwner()).subscribe(streamId)
    await after.publish(streamId, 'with another owner')
    expect((await take(heard, 1))[0]).toMatchObject({
      content: 'with another owner',
      publisherId: account.nodeId,
    })
  })
})
