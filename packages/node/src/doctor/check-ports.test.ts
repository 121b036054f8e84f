import { createServer, type AddressInfo, type Server } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { checkPort } from './check-ports.ts'
import { checkPublicUrl } from './check-public-url.ts'

const host = '127.0.0.1'

describe('the port of a server', () => {
  let server: Server
  let port: number

  beforeEach(async () => {
    server = createServer((socket) => socket.destroy())
    await new Promise<void>((resolve) => server.listen(0, host, resolve))
    port = (server.address() as AddressInfo).port
  })
  afterEach(() => server.close())
  const closed = () => new Promise((resolve) => server.close(resolve))

  it('is taken by another program, or by the node itself', async () => {
    expect(await checkPort({ setting: 'http', host, port }, false)).toMatchObject({
      ...{ check: 'port http', state: 'error' },
      message: expect.stringContaining('EADDRINUSE'),
    })
    expect(await checkPort({ setting: 'http', host, port }, true)).toMatchObject({ state: 'ok' })
  })

  it('is free, and still is after the check', async () => {
    await closed()
    for (let i = 0; i < 2; i++)
      expect(await checkPort({ setting: 'tcp', host, port }, false)).toMatchObject({ state: 'ok' })
  })

  it('cannot be listened on at an address of another machine', async () => {
    const finding = await checkPort({ setting: 'tcp', host: '192.0.2.1', port: 0 }, false)
    expect(finding).toMatchObject({ state: 'error', remedy: expect.stringContaining('0.0.0.0') })
  })

  it('is where the public URL leads, or not', async () => {
    const elsewhere = `ws://${host}:${port}`
    const own = createServer()
    await new Promise<void>((resolve) => own.listen(0, host, resolve))
    const { port: ownPort } = own.address() as AddressInfo
    await new Promise((resolve) => own.close(resolve))
    const check = (url: string) => checkPublicUrl(url, { host, port: ownPort }, false)
    expect(await check(`ws://${host}:${ownPort}`)).toMatchObject({ state: 'ok' })
    // Through TLS, too: what arrives is what counts.
    expect(await check(`wss://${host}:${ownPort}`)).toMatchObject({ state: 'ok' })
    expect(await check(elsewhere)).toMatchObject({
      state: 'warning',
      message: expect.stringContaining('not lead'),
    })
    expect(await checkPublicUrl(elsewhere, { host, port }, false)).toMatchObject({ state: 'error' })
    expect(await checkPublicUrl(elsewhere, { host, port }, true)).toMatchObject({ state: 'warning' })
  })
})
