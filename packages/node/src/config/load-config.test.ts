import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { nodeLimits } from '../limits.ts'
import { loadConfig, type ConfigSources } from './load-config.ts'
import { settings } from './settings.ts'

function directoryWith(config?: unknown): string {
  const directory = mkdtempSync(join(tmpdir(), 'runnel-config-'))
  if (config !== undefined) {
    writeFileSync(
      join(directory, 'runnel.json'),
      typeof config === 'string' ? config : JSON.stringify(config),
    )
  }
  return directory
}

function load(config?: unknown, sources: Partial<ConfigSources> = {}) {
  return loadConfig({ env: {}, flags: {}, directory: directoryWith(config), ...sources })
}

describe('loadConfig', () => {
  it('needs nothing: every server is on this machine alone', () => {
    const config = load()
    expect(config).toMatchObject({
      logLevel: 'info',
      websocket: { listen: true, host: '127.0.0.1', port: 7170 },
      webrtc: { enabled: true, maxConnections: 250 },
      http: { enabled: true, host: '127.0.0.1', port: 7171 },
      measurements: { enabled: false, intervalMs: 200 },
      observer: { streams: [] },
    })
  })

  it('takes flags over environment over file over defaults', () => {
    const file = { http: { port: 1, host: '::1' }, websocket: { port: 1 }, logLevel: 'debug' }
    const config = load(file, {
      env: { RUNNEL_HTTP_PORT: '2', RUNNEL_WEBSOCKET_PORT: '2' },
      flags: { 'http-port': 3 },
    })
    expect(config.http).toMatchObject({ port: 3, host: '::1' })
    expect(config.websocket).toMatchObject({ port: 2, host: '127.0.0.1' })
    expect(config.logLevel).toBe('debug')
  })

  it('says what of the file a variable hides that other commands use too', () => {
    const file = { key: 'node.key', network: 'network.json', http: { port: 1 } }
    const hidden = (env: Record<string, string>, flags = {}) => {
      const said: string[] = []
      load(file, { env, flags, onHidden: (text) => said.push(text) })
      return said
    }
    const env = { RUNNEL_KEY: 'user.key', RUNNEL_HTTP_PORT: '2' }
    expect(hidden(env)).toEqual([
      expect.stringMatching(/^RUNNEL_KEY \(\S*user\.key\) goes before key of .*\(\S*node\.key\); --key goes/),
    ])
    expect(hidden(env, { key: 'node.key' })).toEqual([])
    expect(hidden({ RUNNEL_KEY: 'node.key', RUNNEL_NETWORK: '' })).toEqual([])
  })

  it('reads numbers, booleans and lists from the environment', () => {
    const config = load(undefined, {
      env: {
        RUNNEL_HTTP_ENABLED: 'false',
        RUNNEL_OBSERVER_STREAMS: 'a,b',
        RUNNEL_WEBRTC_MAX_CONNECTIONS: '7',
      },
    })
    expect(config.http.enabled).toBe(false)
    expect(config.observer.streams).toEqual(['a', 'b'])
    expect(config.webrtc.maxConnections).toBe(7)
  })

  it('takes streams by the flag --stream, and refuses what is none, or too many', () => {
    const own = '/rooms/*'
    expect(load(undefined, { flags: { stream: [own] } }).streams).toEqual([own])
    expect(load({ streams: ['/a'] }, { env: { RUNNEL_STREAMS: '/b,/c' } }).streams).toEqual(['/b', '/c'])
    expect(() => load({ streams: ['lobby'] })).toThrow(/streams\.0: must be 0xowner\/path/)
    const many = Array.from({ length: nodeLimits.maxStreamPatterns + 1 }, (_, n) => `/${n}`)
    expect(() => load({ streams: many })).toThrow(/streams: /)
  })

  it('takes a name that anybody can read, and no other', () => {
    expect(load().name).toBe('')
    expect(load(undefined, { flags: { name: 'Attic, 2nd box' } }).name).toBe('Attic, 2nd box')
    for (const name of ['a\u001b[2A', 'a\n', 'é'])
      expect(() => load({ name })).toThrow(/name: must be printable ASCII/)
    expect(() => load({ name: 'x'.repeat(65) })).toThrow(/name: /)
  })

  it('reads paths relative to the file that has them, others relative to the directory', () => {
    const directory = directoryWith({ key: 'node.key', gateway: { keysFile: 'keys.json' } })
    const config = load(undefined, {
      file: join(directory, 'runnel.json'),
      flags: { network: 'n.json' },
      directory: '/x',
    })
    expect(config.key).toBe(join(directory, 'node.key'))
    expect(config.network).toBe('/x/n.json')
    expect(config.gateway).toMatchObject({ keysFile: join(directory, 'keys.json') })
  })

  it.each([
    [{ http: { prot: 1 } }, 'unknown key http.prot; did you mean port?'],
    [{ logLevl: 'info' }, 'unknown key logLevl; did you mean logLevel?'],
    [
      { measurements: { streams: { cpus: 'x' } } },
      'unknown key measurements.streams.cpus; did you mean cpu?',
    ],
    [{ http: { port: 70_000 } }, 'http.port: Too big'],
    [{ http: { port: '80' } }, 'http.port: expected number, received string'],
    [{ logLevel: 'loud' }, 'logLevel: Invalid option'],
    [{ websocket: { publicUrl: 'http://x' } }, 'websocket.publicUrl: must begin with ws:// or wss://'],
    [{ websocket: { certFile: 'c.pem' } }, 'websocket: certFile and keyFile go together'],
    [{ httpGateway: { keyFile: 'c.key' } }, 'httpGateway: certFile and keyFile go together'],
    [{ mqtt: { certFile: 'c.pem' } }, 'mqtt: certFile and keyFile go together'],
    ['{ "http": ', 'is not JSON'],
    ['[]', 'does not hold a JSON object'],
  ])('refuses %j', (file, message) => {
    expect(() => load(file)).toThrow(
      expect.objectContaining({ code: 'CONFIG_INVALID', message: expect.stringContaining(message) }),
    )
  })

  it('refuses variables it does not know and values of the wrong kind', () => {
    const refused = (env: Record<string, string>) => () => load(undefined, { env })
    expect(refused({ RUNNEL_HTTP_PROT: '1' })).toThrow('RUNNEL_HTTP_PROT; did you mean RUNNEL_HTTP_PORT?')
    expect(refused({ RUNNEL_SOMETHING_ELSE_ALTOGETHER: '1' })).not.toThrow()
    expect(refused({ RUNNEL_HTTP_PORT: 'eighty' })).toThrow('http.port: expected number')
    expect(refused({ RUNNEL_HTTP_ENABLED: 'maybe' })).toThrow('http.enabled: expected boolean')
  })

  it('says when a file that was named is missing', () => {
    expect(() => load(undefined, { file: 'gone.json' })).toThrow(
      expect.objectContaining({ code: 'CONFIG_NOT_FOUND' }),
    )
  })
})

describe('settings', () => {
  it('have names of their own and a description each', () => {
    for (const key of ['env', 'flag'] as const) {
      expect(new Set(settings.map((setting) => setting[key])).size).toBe(settings.length)
    }
    expect(settings.filter((setting) => setting.description === '')).toEqual([])
  })
})
