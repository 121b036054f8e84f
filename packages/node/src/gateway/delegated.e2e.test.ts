import { join } from 'node:path'
import { createIdentity, generatePrivateKey, loadCrypto, type StreamId } from '@runnel/protocol'
import { systemRandom } from '@runnel/protocol/system'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { stopAll } from '../cli.testkit.ts'
import { makeDelegation, saveDelegation } from '../keys/delegations.ts'
import { GatewayNetwork, streamPath, type TestGateway } from './gateway.testkit.ts'

const timeoutMs = 60_000
const hourMs = 3_600_000

describe('keys that act for a user by delegation', { timeout: timeoutMs }, () => {
  const network = new GatewayNetwork()
  let [served, other] = ['' as StreamId, '' as StreamId]
  let gateway: TestGateway

  beforeAll(async () => {
    await network.start(0)
    served = await publicStream('served')
    other = await publicStream('other')
    const keys = { publish: ['/#'], subscribe: ['/#'] }
    gateway = await network.gateway({
      served: { ...keys, as: await delegationFile('served', { streams: [served] }) },
      reading: { ...keys, as: await delegationFile('reading', { publishes: false }) },
      ended: { ...keys, as: await delegationFile('ended', { untilMs: Date.now() - hourMs }) },
    })
  }, timeoutMs)

  afterAll(async () => {
    await stopAll()
    await network.stop()
  }, timeoutMs)

  async function publicStream(path: string): Promise<StreamId> {
    const id = await network.newStream(path)
    await network.owner.grant(id, { user: 'public', permissions: ['subscribe'] })
    return id
  }

  /** Of the owner of the streams, for a key that nobody else has. */
  async function delegationFile(
    name: string,
    changes: Partial<Parameters<typeof makeDelegation>[1]>,
  ): Promise<string> {
    const key = generatePrivateKey(systemRandom)
    const delegation = await makeDelegation(network.network.ownerKey, {
      ...{ chainId: 31_337, delegateId: createIdentity(key, await loadCrypto()).nodeId },
      ...{ fromMs: Date.now() - 2 * hourMs, untilMs: Date.now() + hourMs },
      ...{ publishes: true, reads: true, streams: [], requester: 'a gateway' },
      ...changes,
    })
    const path = join(network.network.directory, `${name}.delegation.json`)
    saveDelegation(path, Buffer.from(key).toString('hex'), delegation)
    return path
  }

  async function publish(key: string, stream: StreamId, content: string) {
    const answer = await gateway.get(streamPath(stream, 'messages'), {
      ...{ method: 'POST', body: content, key: gateway.keys[key] },
      headers: { 'content-type': 'text/plain' },
    })
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> }
  }

  it('publish as that user, signed by the delegate, what everybody verifies', async () => {
    const websocket = { listen: { host: '127.0.0.1', port: 0 } }
    const reader = await network.network.client({ transports: { websocket, webrtc: false } })
    const subscription = await reader.subscribe(served)
    const { status, body } = await publish('served', served, 'for the owner')
    expect([status, body['publisherId']]).toEqual([200, network.owner.userId])
    for await (const message of subscription) {
      expect(message).toMatchObject({ content: 'for the owner', publisherId: network.owner.userId })
      break
    }
  })

  it('publish nothing in a stream that the delegation does not name, nor without its right, nor after its end', async () => {
    const refusals = [
      await publish('served', other, 'elsewhere'),
      await publish('reading', served, 'only reads'),
      await publish('ended', served, 'too late'),
    ]
    expect(refusals.map(({ status, body }) => [status, body['code']])).toEqual([
      [503, 'DELEGATION_SCOPE'],
      [503, 'DELEGATION_SCOPE'],
      [503, 'DELEGATION_EXPIRED'],
    ])
  })
})
