import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { answerPings } from './answer-pings.ts'

it('answers pings, and none of a client that does not read the answers', async () => {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1', autoPong: false })
  onTestFinished(() => server.close())
  await once(server, 'listening')
  const client = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`)
  onTestFinished(() => client.terminate())
  const [[webSocket]] = (await Promise.all([once(server, 'connection'), once(client, 'open')])) as [
    [WebSocket],
    unknown,
  ]
  const maxUnreadBytes = 64 * 1024
  answerPings(webSocket, maxUnreadBytes)
  client.ping('hello')
  expect(String((await once(client, 'pong'))[0])).toBe('hello')
  client.pause()
  // More than the sockets of both ends hold.
  webSocket.send(Buffer.alloc(32 * 1024 * 1024))
  const beforeBytes = webSocket.bufferedAmount
  expect(beforeBytes).toBeGreaterThan(maxUnreadBytes)
  const pings = 1_000
  let heard = 0
  const all = new Promise<void>((resolve) => webSocket.on('ping', () => ++heard === pings && resolve()))
  for (let i = 0; i < pings; i++) client.ping('x'.repeat(125))
  await all
  expect(webSocket.bufferedAmount).toBeLessThanOrEqual(beforeBytes)
})
