import { once } from 'node:events'
import { request, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { startAnvil, type Anvil } from './anvil.ts'
import { chainTimeoutMs } from './chain.testkit.ts'

vi.setConfig({ testTimeout: chainTimeoutMs, hookTimeout: chainTimeoutMs })

let chain: Anvil
beforeAll(async () => {
  chain = await startAnvil()
})
afterAll(() => chain.stop())

const json = { 'content-type': 'application/json' }
const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_accounts', params: [] })

/** Asks with headers that `fetch` does not let one choose. */
async function ask(headers: OutgoingHttpHeaders, method = 'POST') {
  const asking = request(chain.url, { method, headers })
  const response = once(asking, 'response') as Promise<[IncomingMessage]>
  asking.end(method === 'POST' ? body : undefined)
  const [answer] = await response
  let text = ''
  for await (const chunk of answer.setEncoding('utf8')) text += chunk
  return { status: answer.statusCode, allowed: answer.headers['access-control-allow-origin'], text }
}

const evil = [
  'http://evil.example',
  'https://127.0.0.1.evil.example',
  'http://localhost.evil.example',
  'null',
]
const evilHosts = ['rebound.example', 'rebound.example:8545', 'localhost.example']
const own = ['http://127.0.0.1:5173', 'http://localhost:5173', 'http://[::1]:80', 'https://localhost']

describe('the embedded chain', () => {
  it('answers programs', async () => {
    const { status, allowed, text } = await ask(json)
    expect([status, allowed]).toEqual([200, undefined])
    expect(JSON.parse(text)).toMatchObject({ result: { length: 10 } })
  })

  it.each(own)('answers pages that this machine serves: %s', async (origin) => {
    expect(await ask({ ...json, origin })).toMatchObject({ status: 200, allowed: origin })
    const preflight = await ask({ origin, 'access-control-request-method': 'POST' }, 'OPTIONS')
    expect(preflight).toMatchObject({ status: 204, allowed: origin })
  })

  it.each(evil)('does nothing for pages of others: %s', async (origin) => {
    for (const method of ['POST', 'OPTIONS', 'GET'])
      expect(await ask({ ...json, origin }, method)).toEqual({ status: 403, allowed: undefined, text: '' })
  })

  it.each(evilHosts)('takes no name for its own: "%s"', async (host) => {
    expect(await ask({ ...json, host })).toMatchObject({ status: 403, text: '' })
  })

  it.each(['text/plain', 'application/x-www-form-urlencoded', undefined])(
    'takes nothing that pages may send without asking: %s',
    async (type) => {
      expect(await ask(type === undefined ? {} : { 'content-type': type })).toMatchObject({ status: 415 })
    },
  )

  it('has no WebSocket, for which browsers ask nobody', async () => {
    const socket = new WebSocket(chain.url.replace('http:', 'ws:'))
    const opened = vi.fn()
    socket.addEventListener('open', opened)
    await once(socket, 'close')
    expect(opened).not.toHaveBeenCalled()
    const key = { 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==', 'sec-websocket-version': '13' }
    const upgrade = { connection: 'upgrade', upgrade: 'websocket', origin: own[0], ...key }
    expect(await ask(upgrade, 'GET')).toMatchObject({ status: 405 })
  })
})
