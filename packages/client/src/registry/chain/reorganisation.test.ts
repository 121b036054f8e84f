import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { Permission } from '@runnel/contracts'
import { toStreamId, type NodeId, type StreamId } from '@runnel/protocol'
import { systemClock } from '@runnel/protocol/system'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { silentLogger } from '../../logger.ts'
import { mined, startTestChain, type TestChain } from '../chain.testkit.ts'
import { delegationOf } from '../delegations.testkit.ts'
import type { RegistryChange } from '../ports.ts'
import { createdToleranceMs } from '../predates.ts'
import { RegistryService } from '../registry-service.ts'
import { maxFollowedBlocks } from './chain-changes.ts'
import { openChainRegistries } from './chain-registries.ts'

const forever = 2n ** 64n - 1n
let chain: TestChain
let service: RegistryService
/** What was heard and not waited for yet. */
let heard: RegistryChange[]
let onHeard: () => void
let streamId: StreamId
let publisher: NodeId

beforeAll(async () => {
  chain = await startTestChain({ permissioned: true })
})
afterAll(() => chain.stop())

beforeEach(async (context) => {
  const path = `reorganised/${context.task.id}`
  streamId = toStreamId(`${chain.accounts[0].nodeId}/${path}`)
  publisher = chain.accounts[1].nodeId
  await mined(chain.streams.createStream(path, '', 1, []))
  // The chain grows, so that what is taken back does not end before the stream.
  await mine(3)
  service = await follow(chain)
})
afterEach(() => service.stop())

async function follow(chain: Pick<TestChain, 'url' | 'registries' | 'accounts'>): Promise<RegistryService> {
  heard = []
  onHeard = () => {}
  const registries = await openChainRegistries(
    {
      ...{ rpcUrl: chain.url, registries: chain.registries, pollIntervalMs: 20 },
      account: chain.accounts[2].privateKey,
    },
    { clock: systemClock },
  )
  const options = { maxAgeMs: 3_600_000, maxCachedEntries: 100 }
  const service = new RegistryService(options, { registries, clock: systemClock, logger: silentLogger })
  service.onChange = (change) => {
    heard.push(change)
    onHeard()
  }
  await service.start()
  return service
}

const mine = (blocks: number) => chain.provider.send('anvil_mine', [`0x${blocks.toString(16)}`])
const reorganise = (depth: number) => chain.provider.send('anvil_reorg', [depth, []])

interface Rpc {
  readonly id: number
  readonly method: string
  readonly result?: unknown
}

/** Before a chain: while it lags it gives no events, as if it had no block of theirs yet. */
async function lagging(target: string) {
  let onHidden = () => {}
  const server = createServer((request, response) => {
    void json(request).then(async (asked) => {
      const headers = { 'content-type': 'application/json' }
      const answer = await fetch(target, { method: 'POST', headers, body: JSON.stringify(asked) })
      const hidden = (Array.isArray(asked) ? asked : [asked])
        .filter(({ method }: Rpc) => endpoint.lags && method === 'eth_getLogs')
        .map(({ id }: Rpc) => id)
      const hide = (rpc: Rpc) => {
        if (!hidden.includes(rpc.id) || !Array.isArray(rpc.result) || rpc.result.length === 0) return rpc
        onHidden()
        return { ...rpc, result: [] }
      }
      const answers = (await answer.json()) as Rpc | Rpc[]
      response.writeHead(200, headers)
      response.end(JSON.stringify(Array.isArray(answers) ? answers.map(hide) : hide(answers)))
    })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const endpoint = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    lags: false,
    /** Resolves when events have been kept back. */
    hasHidden: () => new Promise<void>((resolve) => (onHidden = resolve)),
    stop: async () => {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
  return endpoint
}

/** Resolves when such a change is heard of. */
function hear(kind: RegistryChange['kind']): Promise<RegistryChange | undefined> {
  return new Promise((resolve) => {
    onHeard = () => {
      const index = heard.findIndex((change) => change.kind === kind)
      if (index < 0) return
      const change = heard.splice(0, index + 1).at(-1)
      onHeard = () => {}
      resolve(change)
    }
    onHeard()
  })
}

/** What the policy says of the publisher, after a look-up if it does not know. */
async function verdict(oldestMs?: number) {
  const check = () => service.publisherPolicy.check(streamId, publisher, Date.now(), oldestMs)
  if (check() === 'unknown') await service.publisherPolicy.resolve(streamId, publisher)
  return check()
}

const grant = () => mined(chain.streams.grantPermission(streamId, publisher, Permission.publish, forever))
const revoke = () => mined(chain.streams.revokePermission(streamId, publisher, Permission.publish))

describe('a chain that takes blocks back', () => {
  it('takes a grant back', async () => {
    expect(await verdict()).toBe('denied')
    await grant()
    expect(await hear('permissions')).toMatchObject({ permissions: { publishUntilMs: Infinity } })
    expect(await verdict()).toBe('allowed')
    await reorganise(1)
    // What was before is not told.
    expect(await hear('permissions')).not.toHaveProperty('permissions')
    expect(await verdict()).toBe('denied')
  })

  it('takes a revocation back, also below blocks without anything of ours', async () => {
    await grant()
    await hear('permissions')
    await revoke()
    await hear('permissions')
    expect(await verdict()).toBe('denied')
    await mine(5)
    await reorganise(6)
    await hear('permissions')
    expect(await verdict()).toBe('allowed')
  })

  it('takes back that a delegation was ended', async () => {
    const delegation = delegationOf({ userId: chain.accounts[0].nodeId })
    const verdict = async () => {
      await service.delegations.resolve(delegation)
      return service.delegations.check(delegation)
    }
    await mined(chain.streams.revokeDelegate(delegation.delegateId))
    await hear('delegations')
    expect(await verdict()).toBe('denied')
    await reorganise(1)
    await hear('delegations')
    expect(await verdict()).toBe('allowed')
  })

  it('takes back a stream, and the deletion of one', async () => {
    await mined(chain.streams.deleteStream(streamId))
    await hear('stream')
    expect(await service.cache.getStream(streamId)).toBeUndefined()
    await reorganise(1)
    await hear('stream')
    expect(await service.cache.getStream(streamId)).toMatchObject({ id: streamId })

    const path = `reorganised/born-${Date.now()}`
    const born = toStreamId(`${chain.accounts[0].nodeId}/${path}`)
    await mined(chain.streams.createStream(path, '', 1, []))
    await hear('stream')
    expect(await service.cache.getStream(born)).toMatchObject({ id: born })
    await reorganise(1)
    await hear('stream')
    expect(await service.cache.getStream(born)).toBeUndefined()
  })

  it('takes back who may take part in a private network', async () => {
    const admission = () => service.admission.allows(publisher)
    const changed = () => new Promise<void>((resolve) => void service.admission.onChange(resolve))
    expect(admission()).toBe(false)
    let change = changed()
    await mined(chain.nodes.allowNodes([publisher]))
    await change
    expect(admission()).toBe(true)
    change = changed()
    await reorganise(1)
    await change
    expect(admission()).toBe(false)
  })

  it('takes back which storage nodes keep a stream', async () => {
    const [owner] = chain.accounts
    const snapshot = await chain.provider.send('evm_snapshot', [])
    await mined(chain.storage.registerNode('ws://storage.example', ''))
    await hear('storage')
    await mined(chain.storage.assign(streamId, owner.nodeId))
    await hear('storage')
    expect(await service.cache.storageNodesOf(streamId)).toHaveLength(1)
    await chain.provider.send('evm_revert', [snapshot])
    await hear('storage')
    expect(await service.cache.storageNodesOf(streamId)).toEqual([])
  })

  it('takes back more blocks than are followed: nothing is taken for known', async () => {
    const snapshot = await chain.provider.send('evm_snapshot', [])
    await grant()
    await hear('permissions')
    expect(await verdict()).toBe('allowed')
    for (let i = 1; i <= maxFollowedBlocks; i++) {
      await mined(chain.streams.setPublicPermissions(streamId, 0, i))
      await hear('permissions')
    }
    await chain.provider.send('evm_revert', [snapshot])
    await hear('unknown')
    expect(await verdict()).toBe('denied')
  })
})

describe('an endpoint of several', () => {
  it('may give the events of a block after it has named the block', async () => {
    await service.stop()
    const behind = await lagging(chain.url)
    service = await follow({ ...chain, url: behind.url })
    expect(await verdict()).toBe('denied')
    behind.lags = true
    const hidden = behind.hasHidden()
    await grant()
    await hidden
    behind.lags = false
    // What was not given then is asked for with the next block.
    await mine(1)
    await hear('permissions')
    expect(await verdict()).toBe('allowed')
    // Once, however often it is asked for.
    await mine(3)
    await revoke()
    await hear('permissions')
    expect(heard).toEqual([])
    await behind.stop()
  })
})

describe('another chain at the same place', () => {
  it('is noticed: nothing of the one before is taken for known', async () => {
    const other = await startTestChain()
    const theirs = await follow(other)
    const port = Number(new URL(other.url).port)
    const path = 'elsewhere'
    const id = toStreamId(`${other.accounts[0].nodeId}/${path}`)
    await mined(other.streams.createStream(path, '', 1, []))
    await hear('stream')
    expect(await theirs.cache.getStream(id)).toMatchObject({ id })
    await other.stop()
    const again = await startTestChain({ port })
    await hear('unknown')
    expect(await theirs.cache.getStream(id)).toBeUndefined()
    await theirs.stop()
    await again.stop()
  })
})

describe('a stream that was made again', () => {
  it('has nothing of the stream before it', async () => {
    await grant()
    await hear('permissions')
    const oldMs = (await service.cache.getStream(streamId))?.createdMs
    expect(await verdict(oldMs)).toBe('allowed')
    await mined(chain.streams.deleteStream(streamId))
    await hear('stream')
    await chain.provider.send('evm_increaseTime', [(2 * createdToleranceMs) / 1000])
    await mined(chain.streams.createStream(streamId.slice(43), '', 1, []))
    await hear('permissions')
    await grant()
    await hear('permissions')
    expect(await verdict(oldMs)).toBe('denied')
    expect(await verdict((oldMs ?? 0) + 2 * createdToleranceMs)).toBe('allowed')
  })
})
