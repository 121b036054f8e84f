import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it } from 'vitest'
import { watchClock } from './watch-clock.ts'

describe('watchClock', () => {
  it.each([
    [3 * 60_000, [expect.stringMatching(/3 min behind.*timedatectl/)]],
    [-180 * 60_000, [expect.stringMatching(/180 min ahead/)]],
    [2_000, []],
  ])('a chain whose clock is ahead by %i ms', async (offsetMs, lines) => {
    const server = createServer((_, response) => {
      response.setHeader('date', new Date(Date.now() + offsetMs).toUTCString()).end('{}')
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const address = `0x${'1'.repeat(40)}`
    const registries = { trackerRegistry: address, streamRegistry: address, storageRegistry: address }
    const rpcUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const said: string[] = []
    const error = ((_: object, text: string) => void said.push(text)) as never
    await watchClock({ kind: 'chain', rpcUrl, registries }, { error })
    server.close()
    expect(said).toEqual(lines)
  })
})
