import { execFileSync } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import type { IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { newDirectory } from '../../cli.testkit.ts'
import { parseConfig } from '../../config/load-config.ts'
import { startBroker, type Broker } from '../../node.ts'
import { writeKeysFile } from '../access/keys-file.ts'
import { httpGatewayPlugin } from './http-gateway-plugin.ts'

const directory = newDirectory()
const at = (name: string) => join(directory, name)
let broker: Broker

/** A key and a certificate that nobody else signed. */
function newCertificate(name: string): { readonly cert: string; readonly key: string } {
  const subject = ['-x509', '-nodes', '-subj', `/CN=${name}`, '-addext', 'subjectAltName=IP:127.0.0.1']
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256']
  execFileSync(
    'openssl',
    ['req', ...subject, ...newKey, '-keyout', at(`${name}.key`), '-out', at(`${name}.crt`)],
    {
      stdio: 'ignore',
    },
  )
  return { cert: readFileSync(at(`${name}.crt`), 'utf8'), key: readFileSync(at(`${name}.key`), 'utf8') }
}

const server = newCertificate('server')
const known = newCertificate('known')
const stranger = newCertificate('stranger')

beforeAll(async () => {
  writeFileSync(at('network.json'), JSON.stringify({ version: 1, trackers: [], streams: [] }))
  const certificate = new X509Certificate(known.cert).fingerprint256.replaceAll(':', '').toLowerCase()
  writeKeysFile(at('keys.json'), [{ name: 'known', certificate, subscribe: ['/#'] }])
  const config = parseConfig({
    ...{ network: at('network.json'), logLevel: 'silent', webrtc: { enabled: false } },
    ...{ websocket: { listen: false }, http: { enabled: false }, gateway: { keysFile: at('keys.json') } },
    httpGateway: {
      ...{ enabled: true, port: 0, clientCertificates: true },
      ...{ certFile: at('server.crt'), keyFile: at('server.key') },
      corsOrigins: ['*', 'https://app.example'],
    },
  })
  broker = await startBroker(config, { env: {}, directory })
}, 60_000)

afterAll(() => broker.stop())

async function codeFor(client: object, headers: Readonly<Record<string, string>> = {}): Promise<string> {
  const url = `${broker.plugins.of(httpGatewayPlugin)?.url}/v1/streams/%2Fa/last`
  const asking = request(url, { ca: server.cert, agent: false, headers, ...client }).end()
  const [answer] = (await once(asking, 'response')) as [IncomingMessage]
  let text = ''
  for await (const chunk of answer.setEncoding('utf8') as AsyncIterable<string>) text += chunk
  return (JSON.parse(text) as { code: string }).code
}

it('a client certificate stands for a key, by its fingerprint', async () => {
  // It is let in: there is no such stream.
  expect(await codeFor(known)).toBe('STREAM_NOT_FOUND')
  expect(await codeFor(stranger)).toBe('GATEWAY_KEY_WRONG')
  expect(await codeFor({})).toBe('GATEWAY_KEY_MISSING')
})

it('a page cannot use the certificate that a browser shows for it, unless its origin is named', async () => {
  expect(await codeFor(known, { origin: 'https://app.example' })).toBe('STREAM_NOT_FOUND')
  expect(await codeFor(known, { origin: 'https://page.example' })).toBe('GATEWAY_KEY_MISSING')
})
