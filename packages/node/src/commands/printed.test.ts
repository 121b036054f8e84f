import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { createClient, type ClientConfig } from '@runnel/client'
import { startAnvil, type Anvil } from '@runnel/contracts/anvil'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { newDirectory, runRunnel, startRunnel, stopAll } from '../cli.testkit.ts'
import { createLogger } from '../logger.ts'

/** Each command is a process, and the machine may be busy. */
const timeoutMs = 300_000
const cwd = newDirectory()
/** Where providers put the key of whoever pays: in the path, the query, or user and password. */
const secrets = [
  'key-in-path',
  'key-in-query',
  'pass-word',
  Buffer.from('some-user:pass-word').toString('base64'),
]
const secretsIn = (text: string) => secrets.filter((secret) => text.includes(secret))
const secretUrl = (port: number, user = '') =>
  `http://${user}127.0.0.1:${port}/v3/key-in-path?apiKey=key-in-query`

/** What an endpoint does with a request; each but the first also says the secret itself. */
type Mood = 'works' | 'answers 401' | 'answers an error' | 'answers garbage' | 'hangs up'
const badMoods: readonly Mood[] = ['answers 401', 'answers an error', 'answers garbage', 'hangs up']

let chain: Anvil
let endpoint: Server
let mood: Mood = 'works'
let port = 0
let registries: Extract<ClientConfig['network'], { kind: 'chain' }>['registries']

beforeAll(async () => {
  chain = await startAnvil()
  endpoint = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy())
  }).listen(0, '127.0.0.1')
  await once(endpoint, 'listening')
  port = (endpoint.address() as AddressInfo).port
  writeFileSync(join(cwd, 'owner.key'), chain.privateKeys[0]?.slice(2) ?? '', { mode: 0o600 })
  const deploy = `registry deploy --rpc-url ${chain.url} --key owner.key --json`.split(' ')
  registries = (JSON.parse((await runRunnel(deploy, { cwd })).stdout) as { registries: typeof registries })
    .registries
  const at = (rpcUrl: string) => JSON.stringify({ version: 1, chain: { rpcUrl, chainId: 31337, registries } })
  writeFileSync(join(cwd, 'secret.json'), at(secretUrl(port)))
  writeFileSync(join(cwd, 'user.json'), at(secretUrl(port, 'some-user:pass-word@')))
  writeFileSync(join(cwd, 'away.json'), at(secretUrl(1)))
}, timeoutMs)
/** Answers a request as `mood` wants it. */
async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const headers = { 'content-type': 'application/json' }
  const echo = `${request.url} key-in-path key-in-query pass-word`
  if (mood === 'hangs up') return void response.destroy()
  if (mood === 'answers 401') return void response.writeHead(401, headers).end(echo)
  if (mood === 'answers garbage') return void response.end(echo)
  if (mood === 'answers an error')
    return void response.end(
      JSON.stringify({ jsonrpc: '2.0', id: 1, error: { code: -32000, message: echo } }),
    )
  const fromChain = await fetch(chain.url, { method: 'POST', headers, body: Buffer.concat(chunks) })
  response.writeHead(fromChain.status, headers).end(await fromChain.text())
}

afterEach(() => {
  mood = 'works'
})
afterAll(async () => {
  await stopAll()
  endpoint.closeAllConnections()
  endpoint.close()
  await chain.stop()
})

describe('the secrets of an RPC URL', { timeout: timeoutMs }, () => {
  it('are in no error, status or log line of the client', async () => {
    const seen: unknown[] = []
    let logged = ''
    const logger = createLogger('debug', 'test', {
      destination: { write: (line) => void (logged += line) },
    })
    const note = (work: Promise<unknown>) =>
      work.then(
        () => {},
        (error: unknown) => void seen.push(error),
      )
    const open = (rpcUrl: string) =>
      createClient(
        {
          network: { kind: 'chain', rpcUrl, registries },
          privateKey: chain.privateKeys[1] ?? '',
          registry: { pollIntervalMs: 50 },
        },
        { logger },
      )
    await note(open(secretUrl(1)))
    for (mood of badMoods) await note(open(secretUrl(port, 'some-user:pass-word@')))
    mood = 'works'
    const client = await open(secretUrl(port))
    const statuses = client.status()
    const stream = await client.createStream({ path: 'one' })
    await note(client.createStream({ path: 'one' }))
    await note(client.grant(`${chain.privateKeys[0]}/no`, { user: 'public', permissions: ['publish'] }))
    for (mood of badMoods) {
      await note(client.createStream({ path: mood.replaceAll(' ', '-') }))
      await note(client.listStreams())
      await note(client.revoke(stream.id, { user: 'public', permissions: ['publish'] }))
    }
    for await (const status of statuses) {
      seen.push(status)
      if (status.type === 'chain') break
    }
    await client.close()
    expect(seen.length).toBeGreaterThan(15)
    for (const thrown of seen) {
      logger.warn({ error: thrown, err: thrown }, 'as an application may log it')
      expect(secretsIn(inspect(thrown, { depth: Infinity, showHidden: true }))).toEqual([])
    }
    expect(logged).not.toBe('')
    expect(secretsIn(logged)).toEqual([])
  })

  it('are in nothing that a command prints', async () => {
    const run = async (line: string) => {
      const { stdout, stderr } = await runRunnel(line.split(' '), { cwd })
      expect(secretsIn(stdout + stderr), line).toEqual([])
      return stdout + stderr
    }
    const id = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8'
    const add = `registry add-tracker ${id} ws://tracker.example --key owner.key --log-level debug`
    expect(await run('stream list --network secret.json --json')).toMatch(/^\[.*\]\n$/)
    expect(await run('registry show --network away.json')).toContain('CHAIN_UNREACHABLE')
    expect(await run('stream list --network away.json')).toContain('CHAIN_UNREACHABLE')
    expect(await run('stream list --network user.json')).not.toBe('')
    expect(await run('registry show --network user.json')).toContain(registries.streamRegistry)
    expect(await run(`registry deploy --rpc-url ${secretUrl(1)} --key owner.key --out x.json`)).toContain(
      'CHAIN',
    )
    for (mood of badMoods) {
      expect(await run('registry show --network secret.json'), mood).not.toBe('')
      expect(await run('stream list --network secret.json'), mood).not.toBe('')
      expect(await run(`${add} --network secret.json`), mood).not.toBe('')
    }
  })

  it('are in nothing that a node and a tracker print while the chain goes away', async () => {
    const key = ['--key', 'owner.key', '--network', 'secret.json', '--log-level', 'debug']
    const tracker = startRunnel(['tracker', '--port', '0', ...key], { cwd })
    await tracker.said('HTTP at')
    mood = 'answers 401'
    await tracker.said('the chain does not answer')
    mood = 'works'
    await tracker.said('the chain answers again')
    expect(secretsIn(tracker.stdout() + tracker.stderr())).toEqual([])
  })
})

describe('user and password in the URL of a tracker', { timeout: timeoutMs }, () => {
  it('are not printed, and make it no tracker to connect to', async () => {
    const { stdout, stderr } = await runRunnel(['tracker', 'status', 'ws://some-user:pass-word@127.0.0.1:1'])
    expect(stdout + stderr).toContain('ws://127.0.0.1:1')
    expect(secretsIn(stdout + stderr)).toEqual([])
    const url = 'ws://some-user:pass-word@127.0.0.1:1'
    const nodeId = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8'
    const document = { version: 1, trackers: [{ nodeId, url }], streams: [] }
    writeFileSync(join(cwd, 'document.json'), JSON.stringify(document))
    const listed = await runRunnel(['stream', 'list', '--network', 'document.json'], { cwd })
    expect(listed.stderr).toContain('without user and password')
    expect(secretsIn(listed.stdout + listed.stderr)).toEqual([])
  })
})

describe('what others wrote', { timeout: timeoutMs }, () => {
  it('reaches the terminal as text, and programs as it is', async () => {
    const metadata = '\u009b2J \u001b]0;title\u0007 \u202egnp.exe \u2066a\u200b\u2028b'
    const network = ['--network', 'secret.json', '--key', 'owner.key']
    const create = ['stream', 'create', '/hostile', '--metadata', metadata, ...network]
    const id = (await runRunnel(create, { cwd })).stdout.trim()
    const shown = await runRunnel(['stream', 'show', id, ...network], { cwd })
    expect(shown.stdout).toContain('metadata    �2J �]0;title� �gnp.exe �a��b\n')
    const json = await runRunnel(['stream', 'show', id, '--json', ...network], { cwd })
    expect(json.stdout).not.toMatch(/[\p{Cf}\p{Zl}\u0000-\u0009\u000b-\u001f\u007f-\u009f]/u)
    expect(JSON.parse(json.stdout)).toMatchObject({ metadata })
  })
})
