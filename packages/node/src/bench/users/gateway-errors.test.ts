import { once } from 'node:events'
import { createServer, type AddressInfo, type Server } from 'node:net'
import { afterEach, expect, it } from 'vitest'
import { httpUsers } from './http-users.ts'
import { mqttUsers } from './mqtt-users.ts'
import type { UserOptions } from './user.ts'

const servers: Server[] = []
afterEach(() => servers.splice(0).forEach((server) => server.close()))

const optionsFor = (url: string) =>
  ({
    ...{ plan: { subscribes: true }, part: { streamId: '0x/s', partition: 0 } },
    ...{ place: { gateway: { url, key: 'key' } }, signal: new AbortController().signal },
    ...{ onMessage: () => {}, onError: () => {} },
  }) as unknown as UserOptions

/** A server that says this to whoever comes; by default a port at which nobody listens: systems give it to nobody who asks for any. */
async function portOf(answer?: string | Uint8Array): Promise<number> {
  if (answer === undefined) return 65_535
  return listening(
    createServer((socket) => socket.on('error', () => {}).once('data', () => socket.end(answer))),
  )
}

async function listening(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  servers.push(server)
  return port
}

const unauthorized = 'HTTP/1.1 401 Unauthorized\r\ncontent-length: 6\r\nconnection: close\r\n\r\nno key'
/** CONNACK of MQTT 5: not authorized. */
const notAuthorized = new Uint8Array([0x20, 3, 0, 0x87, 0])

/** CONNACK and SUBACK of MQTT 5, without reasons; the second has the id of what it answers. */
const connected = new Uint8Array([0x20, 3, 0, 0, 0])
const subscribed = (request: Uint8Array) => new Uint8Array([0x90, 4, ...request.subarray(2, 4), 0, 0])

/** A gateway that lets a user in, and then ends in order. */
async function leavingGateway(scheme: 'http' | 'mqtt'): Promise<number> {
  if (scheme === 'http') return portOf('HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n')
  const server = createServer((socket) => {
    socket
      .on('error', () => {})
      .once('data', () => {
        socket.write(connected)
        socket.once('data', (request) => socket.end(subscribed(request)))
      })
  })
  return listening(server)
}

it.each(['http', 'mqtt'] as const)('%s users say that their gateway has gone', async (scheme) => {
  const url = `${scheme}://127.0.0.1:${await leavingGateway(scheme)}`
  const factory = scheme === 'http' ? httpUsers() : await mqttUsers()
  const lost = Promise.withResolvers<unknown>()
  const user = await factory.open({ ...optionsFor(url), onError: lost.resolve })
  expect(await lost.promise).toMatchObject({ code: 'BENCH_GATEWAY_UNREACHABLE' })
  servers.splice(0).forEach((server) => server.close())
  await expect(user.publish(new Uint8Array(1), false)).rejects.toMatchObject({
    code: 'BENCH_GATEWAY_UNREACHABLE',
  })
  await user.stop()
})

it.each([
  ['http', undefined, 'BENCH_GATEWAY_UNREACHABLE', /: connect ECONNREFUSED/],
  ['mqtt', undefined, 'BENCH_GATEWAY_UNREACHABLE', /: connect ECONNREFUSED/],
  ['mqtt', unauthorized, 'BENCH_GATEWAY_UNREACHABLE', /: it does not speak MQTT/],
  ['http', unauthorized, 'BENCH_GATEWAY_REFUSED', /: 401 no key/],
  ['mqtt', notAuthorized, 'BENCH_GATEWAY_REFUSED', /[Nn]ot authorized/],
])('%s users name the gateway and what is wrong with it', async (scheme, answer, code, text) => {
  const url = `${scheme}://127.0.0.1:${await portOf(answer)}`
  const factory = scheme === 'http' ? httpUsers() : await mqttUsers()
  const opened = factory.open(optionsFor(url))
  await expect(opened).rejects.toMatchObject({ code, message: expect.stringContaining(`: ${url}: `) })
  await expect(opened).rejects.toThrow(text)
})
