import { createServer, connect, type AddressInfo, type Socket } from 'node:net'
import { toStreamId, toStreamPartId, type Identity } from '@runnel/protocol'
import { expect, it } from 'vitest'
import { newIdentity, running, startNode, startTracker } from './signalled-nodes.testkit.ts'

const part = toStreamPartId(toStreamId(`0x${'a'.repeat(40)}/lost-signals`), 0)

/** Leads to a server, until `cut` ends all connections at once. */
async function startLine(port: number): Promise<{ readonly url: string; cut(): void }> {
  const sockets = new Set<Socket>()
  const server = createServer((inner) => {
    const outer = connect(port, '127.0.0.1')
    for (const [from, to] of [
      [inner, outer],
      [outer, inner],
    ] as const) {
      sockets.add(from)
      from.pipe(to)
      // How it ends does not matter.
      from.on('error', () => undefined)
      from.on('close', () => {
        sockets.delete(from)
        to.destroy()
      })
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const cut = (): void => {
    for (const socket of sockets) socket.destroy()
  }
  running.push({
    async stop() {
      cut()
      await new Promise((resolve) => server.close(resolve))
    },
  })
  return { url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}`, cut }
}

it.each([
  ['newcomer', 'offer'],
  ['neighbour', 'offer'],
  ['newcomer', 'answer'],
  ['neighbour', 'answer'],
] as const)(
  'a newcomer whose connection to the tracker breaks as the %s sends its %s is a neighbour soon after it is back',
  async (sender, kind) => {
    const tracker = await startTracker()
    const { nodeId } = tracker
    const line = await startLine(Number(new URL(tracker.url).port))
    const [lower, higher] = [newIdentity(), newIdentity()].toSorted((a, b) =>
      a.nodeId < b.nodeId ? -1 : 1,
    ) as [Identity, Identity]
    // The one with the lower id offers.
    const isNewcomerLower = (sender === 'newcomer') === (kind === 'offer')
    const newcomer = await startNode({ nodeId, url: line.url }, {}, isNewcomerLower ? lower : higher)
    const neighbour = await startNode(tracker, {}, isNewcomerLower ? higher : lower)
    const failures: string[] = []
    for (const { node } of [newcomer, neighbour])
      node.on('linkFailed', (_, { code }) => void failures.push(code))
    neighbour.node.join(part)
    await neighbour.node.waitForNeighbours(part, { orAlone: true })
    let cuts = 0
    const from = sender === 'newcomer' ? newcomer : neighbour
    from.onSignal = (signal) => {
      if (signal.kind === kind && cuts++ === 0) line.cut()
    }
    newcomer.node.join(part)
    await Promise.all([newcomer, neighbour].map(({ node }) => node.waitForNeighbours(part, { count: 1 })))
    expect(cuts).toBeGreaterThan(0)
    // Neither waited until its attempt was given up.
    expect(failures).toEqual([])
  },
)
