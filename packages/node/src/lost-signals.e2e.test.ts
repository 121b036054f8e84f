import { createServer, connect, type AddressInfo, type Socket } from 'node:net'
import { createNetworkNode, type NetworkNode } from '@runnel/network'
import {
  createIdentity,
  generatePrivateKey,
  loadCrypto,
  toStreamId,
  toStreamPartId,
  type Identity,
  type Signal,
} from '@runnel/protocol'
import { systemClock, systemRandom } from '@runnel/protocol/system'
import { createTracker } from '@runnel/tracker'
import { createTransports } from '@runnel/transport'
import { afterEach, expect, it } from 'vitest'

const crypto = await loadCrypto()
const system = { crypto, clock: systemClock, random: systemRandom }
const newIdentity = () => createIdentity(generatePrivateKey(systemRandom), crypto)
const part = toStreamPartId(toStreamId(`0x${'a'.repeat(40)}/lost-signals`), 0)

const running: { stop(): Promise<void> }[] = []
afterEach(async () => {
  for (const one of running.splice(0).toReversed()) await one.stop()
})

/** What is thrown here nobody catches. */
function fail(error: unknown): void {
  throw error
}

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

interface Made {
  readonly node: NetworkNode
  /** Hears of each signal just before it is sent. */
  onSignal: (signal: Signal) => void
}

/** A node that only signalling reaches. */
async function startNode(
  identity: Identity,
  tracker: { nodeId: Identity['nodeId']; url: string },
): Promise<Made> {
  const made: { onSignal: Made['onSignal'] } = { onSignal: () => undefined }
  const node = createNetworkNode(
    {},
    {
      ...system,
      ...{ identity, onError: fail },
      publisherPolicy: { check: () => 'allowed', resolve: async () => undefined },
      trackers: { trackersFor: () => [tracker], onChange: () => () => {} },
      transports: (modules) => {
        const send = (signal: Signal): boolean => {
          made.onSignal(signal)
          return modules.signalling.send(signal)
        }
        const signalling = { ...modules.signalling, send }
        return createTransports({ webrtc: { bindAddress: '127.0.0.1' } }, { ...modules, signalling })
      },
    },
  )
  await node.start()
  running.push(node)
  return Object.assign(made, { node })
}

it.each([
  ['newcomer', 'offer'],
  ['neighbour', 'offer'],
  ['newcomer', 'answer'],
  ['neighbour', 'answer'],
] as const)(
  'a newcomer whose connection to the tracker breaks as the %s sends its %s is a neighbour soon after it is back',
  async (sender, kind) => {
    const tracker = createTracker(
      { listen: { port: 0 } },
      { ...system, identity: newIdentity(), onError: fail },
    )
    await tracker.start()
    running.push(tracker)
    const { nodeId } = tracker
    const line = await startLine(Number(new URL(tracker.url).port))
    const [lower, higher] = [newIdentity(), newIdentity()].toSorted((a, b) =>
      a.nodeId < b.nodeId ? -1 : 1,
    ) as [Identity, Identity]
    // The one with the lower id offers.
    const isNewcomerLower = (sender === 'newcomer') === (kind === 'offer')
    const newcomer = await startNode(isNewcomerLower ? lower : higher, { nodeId, url: line.url })
    const neighbour = await startNode(isNewcomerLower ? higher : lower, { nodeId, url: tracker.url })
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
