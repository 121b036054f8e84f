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
  const server = createServer((socket) => socket.on('error', () => {}).once('data', () => socket.end(answer)))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  servers.push(server)
  return port
}

const unauthorized = 'HTTP/1.1 401 Unauthorized\r\ncontent-length: 6\r\nconnection: close\r\n\r\nno key'
/** CONNACK of MQTT 5: not authorized. */
const notAuthorized = new Uint8Array([0x20, 3, 0, 0x87, 0])

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
