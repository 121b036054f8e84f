import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import fastify from 'fastify'
import { afterAll, describe, expect, it } from 'vitest'
import { loadStaticFiles, serveStatic } from './static-files.ts'

const directory = mkdtempSync(join(tmpdir(), 'runnel-static-'))
mkdirSync(join(directory, 'assets'))
writeFileSync(join(directory, 'index.html'), '<p>hello')
writeFileSync(join(directory, 'assets/page-ABC.js'), 'run()')
writeFileSync(join(directory, 'secret.key'), 'not served')
afterAll(() => rmSync(directory, { recursive: true }))

function app() {
  const app = fastify()
  serveStatic(app, '/explorer/', loadStaticFiles(directory))
  return app
}

describe('static files', () => {
  it('are served with a policy that lets nothing else in', async () => {
    const response = await app().inject('/explorer/')
    expect(response.body).toBe('<p>hello')
    expect(response.headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-cache',
      'x-content-type-options': 'nosniff',
    })
    const policy = String(response.headers['content-security-policy'])
    expect(policy).toContain("default-src 'none'")
    expect(policy).not.toContain("'unsafe-")
  })

  it('are asked for again only when they have changed', async () => {
    const first = await app().inject('/explorer/')
    const headers = { 'if-none-match': String(first.headers.etag) }
    const second = await app().inject({ url: '/explorer/', headers })
    expect([second.statusCode, second.body]).toEqual([304, ''])
    const script = await app().inject('/explorer/assets/page-ABC.js')
    expect(script.headers['cache-control']).toContain('immutable')
  })

  it('are packed for who takes that', async () => {
    const headers = { 'accept-encoding': 'br, gzip' }
    const response = await app().inject({ url: '/explorer/assets/page-ABC.js', headers })
    expect(response.headers['content-encoding']).toBe('gzip')
    expect(gunzipSync(response.rawPayload).toString()).toBe('run()')
  })

  it.each(['/', '/explorer'])('are where %s leads', async (url) => {
    expect((await app().inject(url)).headers.location).toBe('/explorer/')
  })

  it.each([
    '/explorer/secret.key',
    '/explorer/nothing.js',
    '/explorer/../package.json',
    '/explorer/..%2f..%2fpackage.json',
    '/explorer/assets',
  ])('do not include %s', async (url) => {
    expect((await app().inject(url)).statusCode).toBe(404)
  })

  it('have to be there', () => {
    expect(() => loadStaticFiles(join(directory, 'gone'))).toThrow(/cannot be read/)
    expect(() => loadStaticFiles(join(directory, 'assets'))).toThrow(/no index.html/)
  })
})
