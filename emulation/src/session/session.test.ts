import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { toNodeId } from '@runnel/protocol'
import { expect, it, onTestFinished } from 'vitest'
import type { Host } from '../places/place.ts'
import { Session } from './session.ts'

const id = (digit: string) => toNodeId(`0x${digit.repeat(40)}`)

/** A process of which only the control API is there; it may be given another id, as one that is started anew. */
async function processForTest(name: string) {
  let nodeId = id(name)
  const server = createServer(({ url }, response) => {
    const isMeasured = url === '/v1/control/measurements'
    const measured = { delivered: 0, messages: [], overlays: [] }
    response.end(JSON.stringify({ nodeId, ...(isMeasured ? measured : {}) }))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  const { port } = server.address() as AddressInfo
  const host: Host = { name, site: '', address: '127.0.0.1', control: `http://127.0.0.1:${port}` }
  return { host, startAnew: () => (nodeId = id('f')) }
}

it('collects from the nodes that it had, and counts those that were started anew', async ({ signal }) => {
  const [tracker, one, other] = [
    await processForTest('a'),
    await processForTest('b'),
    await processForTest('c'),
  ]
  const session = await Session.open({ tracker: tracker.host, nodes: [one.host, other.host] }, 4, signal)
  expect(await session.collect()).toMatchObject({
    nodes: [{ nodeId: id('b') }, { nodeId: id('c') }],
    restarted: 0,
  })
  one.startAnew()
  const measured = await session.collect()
  expect(measured).toMatchObject({ nodes: [{ nodeId: id('c') }], restarted: 1 })
  expect(measured.nodes).toHaveLength(1)
})
