import { systemClock } from '@runnel/protocol/system'
import { toNodeId, toStreamId, type NodeId, type StreamId, type RunnelError } from '@runnel/protocol'
import { Permission, storageRegistryAbi, streamRegistryAbi, trackerRegistryAbi } from '@runnel/contracts'
import { AbiCoder, computeAddress, Interface, Wallet, type InterfaceAbi } from 'ethers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { keySigner } from '../../identity/key-signer.ts'
import { mined, startTestChain, type TestChain } from '../chain.testkit.ts'
import { noPermissions, type Registries, type RegistryChange, type RegistryHealth } from '../ports.ts'
import { createdToleranceMs } from '../predates.ts'
import { conformanceNetwork, describeRegistryReaders } from '../readers.conformance.testkit.ts'
import { staticNetworkSchema } from '../static-network.ts'
import { openChainRegistries } from './chain-registries.ts'
import { toContractSeconds } from './until.ts'

let chain: TestChain

beforeAll(async () => {
  chain = await startTestChain()
})
afterAll(() => chain.stop())

function open(account = chain.accounts[0], overrides: { rpcUrl?: string; chainId?: number } = {}) {
  return openChainRegistries(
    {
      rpcUrl: chain.url,
      registries: chain.registries,
      account: account.privateKey,
      pollIntervalMs: 20,
      ...overrides,
    },
    { clock: systemClock },
  )
}

describe('readers', () => {
  let registries: Registries
  beforeAll(async () => {
    const { trackers, streams } = staticNetworkSchema.parse(conformanceNetwork)
    for (const { nodeId, url } of trackers) await mined(chain.trackers.addTracker(nodeId, url, ''))
    for (const { id, partitions, metadata, trackers: own, permissions } of streams) {
      await mined(chain.streams.createStream(id.slice(43), metadata, partitions, own))
      for (const { user, publish = 0, subscribe = 0, edit, delete: canDelete, grant } of permissions) {
        const publishExpiry = toContractSeconds(publish)
        const subscribeExpiry = toContractSeconds(subscribe)
        const rights = {
          canEdit: !!edit,
          canDelete: !!canDelete,
          canGrant: !!grant,
          publishExpiry,
          subscribeExpiry,
        }
        await mined(
          user === 'public'
            ? chain.streams.setPublicPermissions(id, publishExpiry, subscribeExpiry)
            : chain.streams.setPermissions(id, [{ user, permissions: rights }]),
        )
      }
    }
    for (const { id, storageNodes } of streams) {
      for (const { nodeId, url } of storageNodes) {
        const account = chain.accounts.find((candidate) => candidate.nodeId === nodeId)
        if (account === undefined) throw new Error(`No account of the chain is ${nodeId}`)
        await mined(chain.storage.connect(account.wallet).registerNode(url, ''))
        await mined(chain.storage.assign(id, nodeId))
      }
    }
    registries = await open()
  })
  afterAll(() => registries.stop())
  /** Of this test's run, by a chain that makes at most a block a second of its time. */
  const recently = {
    asymmetricMatch: (ms: unknown) =>
      typeof ms === 'number' && ms % 1000 === 0 && Math.abs(ms - Date.now()) < createdToleranceMs,
  }
  describeRegistryReaders(
    'chain',
    () => registries,
    () => recently,
  )
})

describe('writer', () => {
  const registriesOpened: Registries[] = []
  afterAll(() => Promise.all(registriesOpened.map((registries) => registries.stop())))
  async function writer(account = chain.accounts[1]) {
    const registries = await open(account)
    registriesOpened.push(registries)
    return { ...registries.streams, streamId: (path: string) => toStreamId(`${account.nodeId}/${path}`) }
  }
  const draft = { partitions: 1, metadata: '{}', trackers: [] }

  it('creates, grants, revokes and deletes, each in force when it resolves', async () => {
    const { streamId, createStream, getStream, grant, permissionsOf, revoke, deleteStream } = await writer()
    const id = streamId('life')
    const user = chain.accounts[2].nodeId
    await createStream({ ...draft, id, partitions: 7 })
    expect(await getStream(id)).toMatchObject({ id, partitions: 7 })
    await grant(id, { user, permissions: ['publish', 'subscribe'], untilMs: Infinity })
    expect(await permissionsOf(id, user)).toMatchObject({
      publishUntilMs: Infinity,
      subscribeUntilMs: Infinity,
    })
    await revoke(id, { user, permissions: ['publish'] })
    expect(await permissionsOf(id, user)).toMatchObject({ publishUntilMs: 0, subscribeUntilMs: Infinity })
    await deleteStream(id)
    expect(await getStream(id)).toBeUndefined()
  })

  it('knows which users are contracts', async () => {
    const registries = await open()
    registriesOpened.push(registries)
    const { accounts } = registries
    const contract = toNodeId(chain.registries.streamRegistry)
    expect(await accounts.contractBlock(contract)).toBe(await chain.provider.getBlockNumber())
    expect(await accounts.contractBlock(chain.accounts[1].nodeId)).toBe(0)
  })

  it('keeps both of two changes of public permissions that are made at once', async () => {
    const { streamId, createStream, grant, revoke, permissionTable } = await writer()
    const id = streamId('public-at-once')
    await createStream({ ...draft, id })
    await grant(id, { user: 'public', permissions: ['subscribe'], untilMs: Infinity })
    await chain.provider.send('evm_setAutomine', [false])
    await chain.provider.send('evm_setIntervalMining', [1])
    await Promise.all([
      revoke(id, { user: 'public', permissions: ['subscribe'] }),
      grant(id, { user: 'public', permissions: ['publish'], untilMs: Infinity }),
    ])
    await chain.provider.send('evm_setIntervalMining', [0])
    await chain.provider.send('evm_setAutomine', [true])
    expect((await permissionTable(id)).entries[0]).toMatchObject({
      publishUntilMs: Infinity,
      subscribeUntilMs: 0,
    })
  })

  it('changes one public permission and leaves the other', async () => {
    const { streamId, createStream, grant, revoke, permissionTable } = await writer()
    const id = streamId('public')
    await createStream({ ...draft, id })
    await grant(id, { user: 'public', permissions: ['subscribe'], untilMs: Infinity })
    await grant(id, { user: 'public', permissions: ['publish'], untilMs: Date.UTC(2090, 0, 1) })
    expect((await permissionTable(id)).entries[0]).toMatchObject({
      user: 'public',
      publishUntilMs: Date.UTC(2090, 0, 1),
      subscribeUntilMs: Infinity,
    })
    await revoke(id, { user: 'public', permissions: ['subscribe'] })
    expect((await permissionTable(id)).entries[0]).toMatchObject({
      publishUntilMs: Date.UTC(2090, 0, 1),
      subscribeUntilMs: 0,
    })
    await expect(
      grant(id, { user: 'public', permissions: ['delete'], untilMs: Infinity }),
    ).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
    })
  })

  it('tells in which block somebody last lost the right to read or to grant', async () => {
    const { streamId, createStream, grant, revoke, permissionTable } = await writer()
    const id = streamId('losses')
    const [{ nodeId: other }, , { nodeId: user }] = chain.accounts
    const lossBlock = async () => (await permissionTable(id)).lossBlock
    const head = () => chain.provider.getBlockNumber()
    await createStream({ ...draft, id })
    await grant(id, { user, permissions: ['publish', 'subscribe', 'grant'], untilMs: Infinity })
    await revoke(id, { user, permissions: ['publish'] })
    await revoke(id, { user: other, permissions: ['subscribe'] })
    expect(await permissionTable(id)).toMatchObject({ block: await head(), lossBlock: 0 })
    await revoke(id, { user, permissions: ['grant'] })
    const grantLost = await head()
    await grant(id, { user: other, permissions: ['subscribe'], untilMs: Infinity })
    expect(await lossBlock()).toBe(grantLost)
    await revoke(id, { user, permissions: ['subscribe'] })
    const readLost = await head()
    await grant(id, { user, permissions: ['subscribe'], untilMs: Infinity })
    expect(await permissionTable(id)).toMatchObject({ block: readLost + 1, lossBlock: readLost })
  })

  it('counts nonces, so that writes at the same time all come through, refused ones between them', async () => {
    const { streamId, createStream, listStreams } = await writer()
    const ids = Array.from({ length: 8 }, (_, i) => streamId(`many/${i}`))
    const results = await Promise.allSettled([
      ...ids.slice(0, 4).map((id) => createStream({ ...draft, id })),
      createStream({ ...draft, id: ids[0] ?? streamId('x') }),
      createStream({ ...draft, id: streamId('bad'), partitions: 101 }),
      ...ids.slice(4).map((id) => createStream({ ...draft, id })),
    ])
    expect(
      results.map((result) => (result.status === 'rejected' ? (result.reason as RunnelError).code : 'done')),
    ).toEqual([...Array(4).fill('done'), 'STREAM_EXISTS', 'REGISTRY_REFUSED', ...Array(4).fill('done')])
    const made = (await listStreams({ owner: chain.accounts[1].nodeId })).map(({ id }) => id)
    expect(made).toEqual(expect.arrayContaining(ids))
  })

  it('shares its account with another process: both write at the same time, and one of two makes the same stream', async () => {
    const one = await writer()
    const other = await writer()
    const streams = Array.from({ length: 4 }, (_, i) => one.streamId(`shared/${i}`))
    for (const id of streams) {
      const results = await Promise.allSettled([
        one.createStream({ ...draft, id }),
        other.createStream({ ...draft, id }),
      ])
      const refused = results.flatMap((result) =>
        result.status === 'rejected' ? [(result.reason as RunnelError).code] : [],
      )
      expect(refused).toEqual(['STREAM_EXISTS'])
    }
    await Promise.all(
      [one, other].flatMap(({ createStream, streamId }, process) =>
        streams.map((_, i) => createStream({ ...draft, id: streamId(`apart/${process}/${i}`) })),
      ),
    )
    expect(await other.getStream(one.streamId('apart/0/3'))).toMatchObject({ partitions: 1 })
  })

  it('shares it where blocks are mined later, too', async () => {
    const [one, other] = [await writer(), await writer()]
    const ids = [one.streamId('pending/0'), one.streamId('pending/1')] as const
    await chain.provider.send('evm_setAutomine', [false])
    try {
      const made = Promise.all([
        one.createStream({ ...draft, id: ids[0] }),
        other.createStream({ ...draft, id: ids[1] }),
      ])
      const pending = async () =>
        ((await chain.provider.send('txpool_status', [])) as { readonly pending: string }).pending
      await expect.poll(pending).toBe('0x2')
      await chain.provider.send('evm_mine', [])
      await made
    } finally {
      await chain.provider.send('evm_setAutomine', [true])
    }
    for (const id of ids) expect(await one.getStream(id)).toMatchObject({ id })
  })

  it('gives up where the account is never left to it, and changes nothing', async () => {
    const { wallet, privateKey, nodeId } = chain.accounts[2]
    const signer = keySigner(privateKey)
    let overtaken = 0
    const registries = await openChainRegistries(
      {
        rpcUrl: chain.url,
        registries: chain.registries,
        account: {
          ...signer,
          async sendTransaction(transaction, broadcast) {
            overtaken++
            await (await wallet.sendTransaction({ to: nodeId, value: 1n })).wait()
            return signer.sendTransaction(transaction, broadcast)
          },
        },
        pollIntervalMs: 20,
      },
      { clock: systemClock },
    )
    registriesOpened.push(registries)
    const id = toStreamId(`${nodeId}/overtaken`)
    await expect(registries.streams.createStream({ ...draft, id })).rejects.toMatchObject({
      code: 'ACCOUNT_BUSY',
    })
    expect(overtaken).toBe(6)
    expect(await registries.streams.getStream(id)).toBeUndefined()
  })

  it('says why the registry refused', async () => {
    const { streamId, createStream } = await writer()
    const id = streamId('mine')
    await createStream({ ...draft, id })
    const stranger = await writer(chain.accounts[2])
    await expect(stranger.deleteStream(id)).rejects.toMatchObject({
      code: 'REGISTRY_REFUSED',
      message: expect.stringContaining('needs the delete permission'),
    })
    await expect(stranger.deleteStream(streamId('none'))).rejects.toMatchObject({ code: 'STREAM_NOT_FOUND' })
    await expect(stranger.createStream({ ...draft, id: streamId('theirs') })).rejects.toMatchObject({
      code: 'NOT_STREAM_OWNER',
    })
    await expect(
      createStream({ ...draft, id: streamId('long'), metadata: 'x'.repeat(5000) }),
    ).rejects.toMatchObject({ code: 'REGISTRY_REFUSED', message: expect.stringContaining('4096') })
  })

  it('registers a storage node, moves it, and has a stream kept there or not', async () => {
    const { streamId, createStream } = await writer()
    const { storage } = registriesOpened.at(-1) ?? (await open())
    const { nodeId } = chain.accounts[1]
    const id = streamId('stored')
    await createStream({ ...draft, id })
    await storage.register('ws://first.example')
    await storage.assign(id, nodeId)
    await storage.register('ws://moved.example')
    expect(await storage.storageNodesOf(id)).toEqual([{ nodeId, url: 'ws://moved.example' }])
    expect(await storage.streamsStoredBy(nodeId)).toContain(id)
    await expect(storage.assign(id, nodeId)).rejects.toMatchObject({
      code: 'REGISTRY_REFUSED',
      message: expect.stringContaining('already keeps the stream'),
    })
    await storage.unassign(id, nodeId)
    expect(await storage.storageNodesOf(id)).toEqual([])
    await expect(storage.assign(streamId('nowhere'), nodeId)).rejects.toMatchObject({
      code: 'STREAM_NOT_FOUND',
    })
  })

  it('says so when the account has no money', async () => {
    const privateKey = `0x${'42'.repeat(32)}`
    const poor = await openChainRegistries(
      {
        rpcUrl: chain.url,
        registries: chain.registries,
        account: privateKey,
        pollIntervalMs: 20,
      },
      { clock: systemClock },
    )
    registriesOpened.push(poor)
    await expect(
      poor.streams.createStream({ ...draft, id: toStreamId(`${computeAddress(privateKey)}/a`) }),
    ).rejects.toMatchObject({
      code: 'INSUFFICIENT_FUNDS',
      message: expect.stringContaining(computeAddress(privateKey).toLowerCase()),
    })
  })
})

/** What is no UTF-8, in the place of a text. */
const noText = '0xff'

describe('texts that are no UTF-8', () => {
  let registries: Registries
  let streamId: StreamId
  let attackerId: NodeId
  beforeAll(async () => {
    const [admin] = chain.accounts
    const attacker = new Wallet(`0x${'77'.repeat(32)}`, chain.provider)
    attackerId = toNodeId(attacker.address)
    streamId = toStreamId(`${attackerId}/no-text`)
    await (await admin.wallet.sendTransaction({ to: attacker.address, value: 10n ** 18n })).wait()
    const { streamRegistry, storageRegistry, trackerRegistry } = chain.registries
    const send = async (
      wallet: Wallet,
      to: string,
      abi: InterfaceAbi,
      name: string,
      values: readonly unknown[],
    ) => {
      const call = new Interface(abi).getFunction(name)
      if (call === null) throw new Error(`no ${name}`)
      // Texts are encoded as bytes are.
      const types = call.inputs.map(({ type }) => (type === 'string' ? 'bytes' : type))
      const data = call.selector + AbiCoder.defaultAbiCoder().encode(types, values).slice(2)
      await (await wallet.sendTransaction({ to, data })).wait()
    }
    const path = new TextEncoder().encode('no-text')
    await send(attacker, streamRegistry, streamRegistryAbi, 'createStream', [path, noText, 1, []])
    await send(attacker, storageRegistry, storageRegistryAbi, 'registerNode', [noText, noText])
    await mined(chain.storage.connect(attacker).assign(streamId, attackerId))
    await send(admin.wallet, trackerRegistry, trackerRegistryAbi, 'addTracker', [attackerId, noText, noText])
    registries = await open()
  })
  afterAll(async () => {
    await registries.stop()
    await mined(chain.trackers.removeTracker(attackerId))
  })

  it('count as empty in streams, which are listed with the others', async () => {
    expect(await registries.streams.getStream(streamId)).toMatchObject({ id: streamId, metadata: '' })
    const ids = (await registries.streams.listStreams()).map(({ id }) => id)
    expect(ids).toContain(streamId)
    expect(ids.length).toBeGreaterThan(1)
  })

  it('make nobody reachable, and hide nobody else', async () => {
    expect(await registries.storage.storageNodesOf(streamId)).toEqual([])
    expect(await registries.storage.streamsStoredBy(attackerId)).toContain(streamId)
    const nodes = (await registries.storage.listStorageNodes()).map(({ nodeId }) => nodeId)
    expect(nodes).not.toContain(attackerId)
    expect(nodes.length).toBeGreaterThan(0)
    const trackers = await registries.trackers.listTrackers()
    expect(trackers.length).toBeGreaterThan(0)
    expect(trackers.every(({ url }) => url.startsWith('ws'))).toBe(true)
  })
})

describe('changes', () => {
  it('are reported as they are mined', async () => {
    const registries = await open()
    const changes: RegistryChange[] = []
    let arrived = () => {}
    await registries.start({
      onChange: (change) => {
        changes.push(change)
        arrived()
      },
      onHealth: () => {},
    })
    const count = (n: number) =>
      new Promise<void>((resolve) => {
        arrived = () => void (changes.length >= n && resolve())
        arrived()
      })
    const [owner, user] = chain.accounts
    const streamId = toStreamId(`${owner.nodeId}/changing`)
    await mined(chain.streams.createStream('changing', '', 1, []))
    await count(2)
    await mined(chain.streams.grantPermission(streamId, user.nodeId, Permission.publish, 2n ** 64n - 1n))
    await mined(chain.streams.setPublicPermissions(streamId, 0, 1))
    await mined(chain.trackers.addTracker(user.nodeId, 'ws://three.example', ''))
    await mined(chain.storage.registerNode('https://storage.example', ''))
    await mined(chain.storage.assign(streamId, owner.nodeId))
    await count(7)
    await mined(chain.streams.deleteStream(streamId))
    await count(8)
    const block = expect.any(Number) as number
    const all = {
      edit: true,
      delete: true,
      grant: true,
      publishUntilMs: Infinity,
      subscribeUntilMs: Infinity,
    }
    expect(changes).toEqual([
      { kind: 'stream', streamId },
      { kind: 'permissions', streamId, user: owner.nodeId, block, permissions: all },
      {
        ...{ kind: 'permissions', streamId, user: user.nodeId, block },
        permissions: { ...noPermissions, publishUntilMs: Infinity },
      },
      { kind: 'permissions', streamId, user: 'public', block },
      { kind: 'trackers' },
      { kind: 'storage' },
      { kind: 'storage' },
      { kind: 'stream', streamId },
    ])
    await registries.stop()
  })

  it('keeps going while the chain is away, and says so once each way', async () => {
    const other = await startTestChain()
    const registries = await openChainRegistries(
      {
        rpcUrl: other.url,
        registries: other.registries,
        account: other.accounts[0].privateKey,
        pollIntervalMs: 20,
      },
      { clock: systemClock },
    )
    const seen: RegistryHealth[] = []
    let heard = () => {}
    await registries.start({
      onChange: () => {},
      onHealth: (health) => {
        seen.push(health)
        heard()
      },
    })
    const away = new Promise<void>((resolve) => (heard = resolve))
    await other.stop()
    await away
    expect(seen[0]).toMatchObject({ state: 'unreachable', source: other.url })
    await expect(registries.trackers.listTrackers()).rejects.toMatchObject({ code: 'CHAIN_UNREACHABLE' })
    const back = new Promise<void>((resolve) => (heard = resolve))
    const again = await startTestChain({ port: Number(new URL(other.url).port) })
    await back
    expect(seen.map(({ state }) => state)).toEqual(['unreachable', 'reachable'])
    await registries.stop()
    await again.stop()
  })
})

describe('opening', () => {
  it('names the URL of a chain that does not answer, without credentials', async () => {
    await expect(open(undefined, { rpcUrl: 'http://user:secret@127.0.0.1:1' })).rejects.toMatchObject({
      code: 'CHAIN_UNREACHABLE',
      message: expect.stringMatching(/^(?!.*secret).*http:\/\/127\.0\.0\.1:1/),
    })
  })

  it('refuses another chain', async () => {
    await expect(open(undefined, { chainId: 5 })).rejects.toMatchObject({
      code: 'CHAIN_MISMATCH',
      message: expect.stringContaining('31337'),
    })
  })

  it('refuses an address without a registry, and names it', async () => {
    const streamRegistry = `0x${'12'.repeat(20)}`
    const opening = openChainRegistries(
      {
        rpcUrl: chain.url,
        registries: { ...chain.registries, streamRegistry },
        account: chain.accounts[0].privateKey,
        pollIntervalMs: 20,
      },
      { clock: systemClock },
    )
    await expect(opening).rejects.toMatchObject({
      code: 'REGISTRY_MISSING',
      message: expect.stringContaining(`streamRegistry ${streamRegistry}`),
    })
  })
})
