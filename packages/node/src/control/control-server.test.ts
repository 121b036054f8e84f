import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { request, type IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { nodeError } from '../errors.ts'
import type { ControlOptions } from './control-options.ts'
import { createControlServer, type ControlServer } from './control-server.ts'

const directory = mkdtempSync(join(tmpdir(), 'runnel-control-'))
const tokenFile = join(directory, 'token')
writeFileSync(tokenFile, 'a-token-of-many-characters\n')
const bearer = { authorization: 'Bearer a-token-of-many-characters' }
const json = { 'content-type': 'application/json' }

const running: ControlServer[] = []
afterEach(async () => void (await Promise.all(running.splice(0).map((server) => server.stop()))))

async function start(options: Partial<ControlOptions>): Promise<ControlServer> {
  const server = createControlServer({ host: '127.0.0.1', port: 0, ...options }, (routes) => {
    routes.get('/v1/control', () => ({ hello: 'world' }))
    routes.post('/v1/control/do', ({ body }) => ({ did: body }))
    routes.post('/v1/control/fail', () => {
      throw nodeError('CONTROL_BUSY', 'now')
    })
  })
  running.push(server)
  await server.start()
  return server
}

async function ask(server: ControlServer, path: string, init: RequestInit = {}) {
  const response = await fetch(`${server.url}/v1/control${path}`, init)
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}

describe('the control server', () => {
  it('obeys this machine without a token, and no page', async () => {
    const server = await start({})
    expect(await ask(server, '')).toEqual({ status: 200, body: { hello: 'world' } })
    const post = { method: 'POST', headers: json, body: '{"a":1}' }
    expect(await ask(server, '/do', post)).toEqual({ status: 200, body: { did: { a: 1 } } })
    const ofPage = { ...post, headers: { ...json, origin: 'http://evil.example' } }
    expect(await ask(server, '/do', ofPage)).toMatchObject({ status: 401, body: { code: 'CONTROL_REFUSED' } })
    for (const type of ['text/plain', 'application/x-www-form-urlencoded'])
      expect(await ask(server, '/do', { ...post, headers: { 'content-type': type } })).toMatchObject({
        status: 400,
        body: { code: 'INPUT_INVALID' },
      })
  })

  it('does not take another name of itself for this machine', async () => {
    const server = await start({})
    const { port } = new URL(server.url ?? '')
    const answer = Promise.withResolvers<IncomingMessage>()
    request({ host: '127.0.0.1', port, path: '/v1/control', headers: { host: `rebound.example:${port}` } })
      .once('response', answer.resolve)
      .end()
    const response = await answer.promise
    expect(response.statusCode).toBe(401)
    response.resume()
  })

  it('wants the token where there is one', async () => {
    const server = await start({ host: '0.0.0.0', tokenFile })
    for (const headers of [
      {},
      { authorization: 'Bearer wrong' },
      { authorization: 'a-token-of-many-characters' },
    ])
      expect(await ask(server, '', { headers })).toMatchObject({ status: 401 })
    expect(await ask(server, '', { headers: bearer })).toMatchObject({ status: 200 })
  })

  it('is not open to strangers', async () => {
    await expect(start({ host: '0.0.0.0' })).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
    await expect(start({ tokenFile: join(directory, 'none') })).rejects.toMatchObject({
      code: 'FILE_UNREADABLE',
    })
    const weak = join(directory, 'weak')
    writeFileSync(weak, 'short')
    await expect(start({ tokenFile: weak })).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
  })

  it('answers on a socket that is its own, over one that a dead process has left', async () => {
    const socket = join(directory, 'control.sock')
    writeFileSync(socket, '')
    const server = await start({ socket })
    expect(server.url).toBe(`unix:${socket}`)
    expect(statSync(socket).mode & 0o777).toBe(0o600)
    const answer = Promise.withResolvers<IncomingMessage>()
    request({ socketPath: socket, path: '/v1/control' }).once('response', answer.resolve).end()
    const response = await answer.promise
    expect(response.statusCode).toBe(200)
    response.resume()
  })

  it('lets nobody else open its socket, at no moment', async () => {
    const open = join(directory, 'open')
    mkdirSync(open)
    chmodSync(open, 0o777)
    const umask = process.umask(0)
    const socket = join(open, 'control.sock')
    const seen: string[] = []
    const server = createControlServer({ host: '127.0.0.1', port: 0, socket }, ({ server: listening }) => {
      listening.once('listening', () => {
        // As soon as it could be opened: is there a way to it for others?
        const bound = String(listening.address())
        const modes = [statSync(bound), statSync(dirname(bound))].map(({ mode }) => mode & 0o077)
        seen.push(
          dirname(dirname(bound)) === open ? 'inside' : bound,
          modes.includes(0) ? 'closed' : 'open',
          ...readdirSync(open).filter((it) => it[0] !== '.'),
        )
      })
    })
    await server.start()
    process.umask(umask)
    expect(seen).toEqual(['inside', 'closed'])
    expect(statSync(socket).mode & 0o777).toBe(0o600)
    expect(readdirSync(open)).toEqual(['control.sock'])
    await server.stop()
    expect(readdirSync(open)).toEqual([])
  })

  it('says with a code what went wrong', async () => {
    const server = await start({})
    const post = { method: 'POST', headers: json, body: '{}' }
    expect(await ask(server, '/fail', post)).toMatchObject({ status: 409, body: { code: 'CONTROL_BUSY' } })
    expect(await ask(server, '/do', { ...post, body: '{' })).toMatchObject({ status: 400 })
    const long = { ...post, body: JSON.stringify('x'.repeat(300 * 1024)) }
    expect(await ask(server, '/do', long)).toMatchObject({ status: 413 })
    expect((await ask(server, '/unknown')).status).toBe(404)
  })

  it('removes what it has written', () => rmSync(directory, { recursive: true }))
})
