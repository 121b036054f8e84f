import type { Capability } from '@runnel/protocol'
import { systemClock } from '@runnel/protocol/system'
import { afterEach, describe, expect, it } from 'vitest'
import { testModules } from '../conformance/modules.testkit.ts'
import type { Connection } from '../ports.ts'
import { WebSocketTransport } from './web-socket-transport.ts'

const toStop: WebSocketTransport[] = []
afterEach(async () => {
  for (const transport of toStop.splice(0)) await transport.stop()
})

const can = (name: string): Capability => ({ name, required: false })
const needs = (name: string): Capability => ({ name, required: true })

/** Both ends of a link between two that can do this and that. */
async function linkOf(
  dialler: readonly Capability[],
  listener: readonly Capability[],
): Promise<Connection[]> {
  const listen = { host: '127.0.0.1', port: 0 }
  const modules = (name: string, capabilities: readonly Capability[]) => ({
    ...testModules(name, systemClock),
    capabilities,
  })
  const server = new WebSocketTransport({ role: 'node', listen }, modules('server', listener))
  const client = new WebSocketTransport({ role: 'node' }, modules('client', dialler))
  toStop.push(client, server)
  await Promise.all([server.start(), client.start()])
  const inbound = new Promise<Connection>((resolve) => (server.onInbound = resolve))
  const peerId = testModules('server', systemClock).identity.nodeId
  const outbound = new Promise<Connection>((onOpen, onFail) =>
    client.dial({ peerId, url: server.url, onOpen, onFail }),
  )
  return [await outbound, await inbound]
}

describe('capabilities', () => {
  it('of a link are those that both ends have', async () => {
    const ends = await linkOf([can('a'), can('b'), needs('c')], [can('c'), can('b'), can('d')])
    for (const { capabilities } of ends) expect([...capabilities].sort()).toEqual(['b', 'c'])
    expect((await linkOf([can('a')], []))[1]?.capabilities.size).toBe(0)
  })

  it('that one side requires and the other lacks end the handshake, and both know why', async () => {
    await expect(linkOf([can('a')], [needs('b')])).rejects.toMatchObject({
      code: 'CAPABILITY_MISSING',
      message: expect.stringContaining('b'),
    })
    await expect(linkOf([needs('a')], [can('b')])).rejects.toMatchObject({ code: 'CAPABILITY_MISSING' })
  })
})
