import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { afterEach, expect, it } from 'vitest'
import { HostSockets } from './host-sockets.ts'

const sockets: Socket[] = []
afterEach(() => sockets.splice(0).forEach((socket) => socket.destroy()))

it('bounds the sockets of a host over all servers, and has room again when one ends', async () => {
  let cut = 0
  const hosts = new HostSockets(2, () => cut++)
  const servers = [createServer(), createServer()] as const
  for (const server of servers) {
    hosts.watch(server)
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
  }
  const open = async (server: (typeof servers)[number]) => {
    const taken = once(server, 'connection')
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
    sockets.push(socket)
    const [served] = (await taken) as [Socket]
    return { socket, served }
  }
  const first = await open(servers[0])
  const second = await open(servers[1])
  const third = await open(servers[0])
  expect([first, second, third].map(({ served }) => served.destroyed)).toEqual([false, false, true])
  expect(cut).toBe(1)
  first.socket.destroy()
  await once(first.served, 'close')
  expect((await open(servers[1])).served.destroyed).toBe(false)
  expect((await open(servers[1])).served.destroyed).toBe(true)
  for (const server of servers) server.close()
})
