import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { checkClock } from './check-clock.ts'

const minuteMs = 60_000

describe('checkClock', () => {
  const servers: Server[] = []
  afterEach(() => {
    for (const server of servers.splice(0)) server.close()
  })

  /** A server whose clock is so much ahead. */
  async function serverAhead(offsetMs: number): Promise<string> {
    const server = createServer((_, response) => {
      response.setHeader('date', new Date(Date.now() + offsetMs).toUTCString())
      response.writeHead(404).end('no')
    })
    servers.push(server)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }

  it.each([
    [[0, 0], 'ok', 'agrees with 2 others'],
    [[20_000], 'warning', '20 s behind, compared with one other'],
    [[7 * minuteMs], 'error', '7 min behind'],
    [[-7 * minuteMs, -7 * minuteMs, 0], 'error', '7 min ahead, compared with 3 others'],
    [[9 * minuteMs, 0, 0], 'ok', 'agrees with 2 of 3 others'],
    // Which of the two is right cannot be told; that it is this machine's that is wrong, neither.
    [[9 * minuteMs, 0], 'ok', 'agrees with 1 of 2 others'],
    [[-9 * minuteMs, 0], 'ok', 'agrees with 1 of 2 others'],
    [[9 * minuteMs, 8 * minuteMs], 'error', '8 min behind, compared with 2 others'],
    [[], 'warning', 'no tracker or chain gave its time'],
  ])('servers ahead by %j ms: %s', async (offsets, state, message) => {
    const urls = await Promise.all(offsets.map(serverAhead))
    const finding = await checkClock(['http://127.0.0.1:9', ...urls])
    expect(finding).toMatchObject({ state, message: expect.stringContaining(message) })
  })
})
