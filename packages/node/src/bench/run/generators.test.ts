import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, it, vi } from 'vitest'
import { WebSocketServer } from 'ws'
import { openGenerators } from './generators.ts'

afterEach(() => vi.unstubAllEnvs())

it('waits for a worker that says nothing until the bench is to end', async () => {
  vi.stubEnv('RUNNEL_BENCH_TOKEN', 'a token for this test')
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 })
  await once(server, 'listening')
  const stop = new AbortController()
  server.on('connection', (socket) => socket.on('message', () => stop.abort(new Error('told to'))))
  const worker = [`127.0.0.1:${(server.address() as AddressInfo).port}`]
  const options = { processes: 1, users: 'light', links: 'websocket', listen: '127.0.0.1' } as const
  const opening = openGenerators({ ...options, worker, network: undefined }, 2, stop.signal)
  await expect(opening).rejects.toThrow('told to')
  for (const client of server.clients) client.terminate()
  await new Promise((resolve) => server.close(resolve))
})
