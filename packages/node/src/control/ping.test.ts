import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { describe, expect, it } from 'vitest'
import { ping } from './ping.ts'

const options = { count: 3, timeoutMs: 5_000, concurrency: 2 }

describe('ping', () => {
  it('measures addresses where somebody listens, and those that refuse', async () => {
    const server = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const closed = createServer().listen(0, '127.0.0.1')
    await once(closed, 'listening')
    const { port: refused } = closed.address() as AddressInfo
    closed.close()
    await once(closed, 'close')
    const targets = [`127.0.0.1:${port}`, `127.0.0.1:${refused}`, `127.0.0.2:${port}`]
    const results = await ping(targets, options)
    server.close()
    expect(results.map(({ target }) => target)).toEqual(targets)
    for (const { rttsMs, failed } of results) {
      expect([rttsMs.length, failed]).toEqual([3, 0])
      for (const rttMs of rttsMs) expect(rttMs).toBeGreaterThan(0)
    }
  })

  it('says how many were not answered', async () => {
    const results = await ping(['name.invalid:80', '127.0.0.1:99999'], { ...options, count: 2 })
    expect(results).toEqual([
      { target: 'name.invalid:80', rttsMs: [], failed: 2 },
      { target: '127.0.0.1:99999', rttsMs: [], failed: 2 },
    ])
  })
})
