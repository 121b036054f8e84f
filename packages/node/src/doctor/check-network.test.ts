import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createIdentity, generatePrivateKey, loadCrypto } from '@runnel/protocol'
import { systemClock, systemRandom } from '@runnel/protocol/system'
import type { TrackerAddress } from '@runnel/network'
import { createTracker, type Tracker } from '@runnel/tracker'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { WebSocketServer } from 'ws'
import { askTracker } from '../cli/tracker-state.ts'
import { checkRegistries, checkTrackers } from './check-network.ts'

const crypto = await loadCrypto()
const newIdentity = () => createIdentity(generatePrivateKey(systemRandom), crypto)

describe('trackers', () => {
  const servers: Server[] = []
  let tracker: Tracker

  beforeAll(async () => {
    const modules = { identity: newIdentity(), crypto, clock: systemClock, random: systemRandom }
    tracker = createTracker({ listen: { port: 0 } }, modules)
    await tracker.start()
  })
  afterEach(() => {
    for (const server of servers.splice(0)) server.close().closeAllConnections()
  })
  afterAll(() => tracker.stop())

  const own = (): TrackerAddress => ({ nodeId: tracker.nodeId, url: tracker.url })
  const dead: TrackerAddress = { nodeId: newIdentity().nodeId, url: 'ws://127.0.0.1:9' }

  it('are in use by one that works; those that do not are remarks', async () => {
    expect(await checkTrackers([own(), dead])).toMatchObject([
      { state: 'ok', message: expect.stringMatching(/answers, with \d+ nodes$/) },
      { state: 'warning', message: expect.stringContaining('does not accept WebSockets') },
    ])
  })

  it('are no use where another one answers', async () => {
    expect(await checkTrackers([{ ...own(), nodeId: newIdentity().nodeId }])).toMatchObject([
      { state: 'error', message: expect.stringMatching(/not as this tracker: .*found 0x/) },
    ])
  })

  async function listening(server: Server): Promise<string> {
    servers.push(server)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return `127.0.0.1:${(server.address() as AddressInfo).port}`
  }

  it('are no use where a server takes WebSockets that is no tracker', async () => {
    const server = createServer()
    new WebSocketServer({ server }).on('connection', (socket) => socket.close())
    expect(await checkTrackers([{ ...dead, url: `ws://${await listening(server)}` }])).toMatchObject([
      { state: 'error', message: expect.stringContaining('not as this tracker') },
    ])
  })

  it('may answer without end: that is not read', async () => {
    const server = createServer((_, response) => {
      const more = () => {
        while (response.write(Buffer.alloc(2 ** 20, ' ')));
      }
      response.on('drain', more)
      more()
    })
    expect(await askTracker(`http://${await listening(server)}`)).toMatchObject({
      error: expect.stringContaining('its answer has more than'),
    })
  })
})

it('a network file without a chain is not called a signed document', async () => {
  const document = { version: 1 as const, trackers: [], streams: [] }
  const { finding } = await checkRegistries({ kind: 'static', document })
  expect(finding).toMatchObject({ state: 'ok', message: expect.not.stringContaining('signed') })
})
