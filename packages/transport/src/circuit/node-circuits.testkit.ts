import type { NodeId } from '@runnel/protocol'
import { systemClock } from '@runnel/protocol/system'
import { createTransports, type TransportOptions } from '../create-transports.ts'
import { testModules } from '../conformance/modules.testkit.ts'
import type { Connection, Transport } from '../ports.ts'
import type { CircuitLimits } from './limits.ts'

/** A node with the transports that it would have, WebRTC apart. */
export interface CircuitNode {
  readonly nodeId: NodeId
  readonly transports: readonly Transport[]
  readonly inbound: Connection[]
  transport(kind: string): Transport
  stop(): Promise<void>
}

export async function startNode(name: string, options: TransportOptions): Promise<CircuitNode> {
  const modules = testModules(name, systemClock)
  const signalling = { send: () => false }
  const transports = createTransports({ webrtc: false, ...options }, { ...modules, signalling })
  const inbound: Connection[] = []
  for (const transport of transports) {
    transport.onInbound = (connection) => void inbound.push(connection)
    await transport.start()
  }
  return {
    nodeId: modules.identity.nodeId,
    transports,
    inbound,
    transport: (kind) => {
      const found = transports.find((transport) => transport.kind === kind)
      if (found === undefined) throw new Error(`no ${kind}`)
      return found
    },
    stop: async () => void (await Promise.all(transports.map((transport) => transport.stop()))),
  }
}

/** A node that others can dial, and that carries circuits. */
export async function startCarrier(
  name: string,
  carries: Partial<CircuitLimits> = {},
  port = 0,
  host = '127.0.0.1',
) {
  const node = await startNode(name, { websocket: { listen: { host, port } }, circuits: { carries } })
  return { ...node, url: node.transport('websocket').addresses[0] ?? '' }
}

/** A node that nobody can dial, once it waits at one of the carriers, if there are any. */
export async function startWaiting(name: string, carriers: readonly string[]): Promise<CircuitNode> {
  const node = await startNode(name, { circuits: { carriers } })
  if (carriers.length > 0) await untilAddress(node, (url) => url !== '')
  return node
}

/** Resolves when the address of its circuits is so. */
export function untilAddress(node: CircuitNode, isSo: (url: string) => boolean): Promise<string> {
  const transport = node.transport('circuit')
  return new Promise((resolve) => {
    const check = (): void => {
      const [url = ''] = transport.addresses
      if (isSo(url)) resolve(url)
    }
    transport.onAddresses = check
    check()
  })
}
