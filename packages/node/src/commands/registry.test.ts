import { createHmac } from 'node:crypto'
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { join } from 'node:path'
import { startAnvil, type Anvil } from '@runnel/contracts/anvil'
import {
  createIdentity,
  decodePacket,
  encodePacket,
  generatePrivateKey,
  loadCrypto,
  toNodeId,
} from '@runnel/protocol'
import { systemClock, systemRandom } from '@runnel/protocol/system'
import { WebSocketTransport } from '@runnel/transport'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { newDirectory, runRunnel, startRunnel, stopAll } from '../cli.testkit.ts'

/** Each command is a process, and the machine may be busy. */
const timeoutMs = 300_000
const cwd = newDirectory()
const run = (line: string) => runRunnel(line.split(' '), { cwd })

/** Writes a file only its owner can read. */
const write = (name: string, text: string) => writeFileSync(join(cwd, name), text, { mode: 0o600 })

async function shownTrackers(): Promise<unknown> {
  const { stdout } = await run('registry show --network network.json --json')
  return (JSON.parse(stdout) as { trackers: unknown }).trackers
}

/** A tracker that has said where it is. */
async function startTracker(line: string) {
  const command = startRunnel(['tracker', '--port', '0', ...line.split(' ')], { cwd })
  await command.said(/HTTP at \S+\n/)
  const [, nodeId = '', url = '', httpUrl = ''] =
    /tracker (0x\w+) at (\S+), HTTP at (\S+)\n/.exec(command.stderr()) ?? []
  return { command, nodeId, url, httpUrl }
}

afterEach(stopAll)

describe('runnel registry', { timeout: timeoutMs }, () => {
  let chain: Anvil
  let trackerId = ''
  const asOwner = '--network network.json --key owner.key'

  beforeAll(async () => {
    chain = await startAnvil()
    const [owner = '', tracker = ''] = chain.privateKeys
    write('owner.key', owner.replace('0x', ''))
    write('tracker.key', tracker.replace('0x', ''))
    trackerId = (await run('key show tracker.key')).stdout.trim()
    await run('key new poor.key')
    const deploy = await run(`registry deploy --rpc-url ${chain.url} --key owner.key --json`)
    expect(deploy).toMatchObject({ code: 0, stderr: '' })
    const { registries, chainId } = JSON.parse(deploy.stdout) as { registries: object; chainId: number }
    const file: unknown = JSON.parse(readFileSync(join(cwd, 'network.json'), 'utf8'))
    expect(file).toEqual({ version: 1, chain: { rpcUrl: chain.url, chainId, registries } })
  }, timeoutMs)

  afterAll(() => chain.stop())

  it('deploys nothing when it could not write down where', async () => {
    const deploy = `registry deploy --rpc-url ${chain.url}`
    const before = readFileSync(join(cwd, 'network.json'), 'utf8')
    for (const [rest, code, exit] of [
      ['--key owner.key', 'FILE_EXISTS', 1],
      ['--key owner.key --out gone/network.json', 'FILE_UNWRITABLE', 78],
      ['--key poor.key --out poor.json', 'DEPLOY_FAILED', 1],
    ] as const) {
      const { code: exitCode, stdout, stderr } = await run(`${deploy} ${rest}`)
      expect({ exitCode, stdout, stderr }).toEqual({
        exitCode: exit,
        stdout: '',
        stderr: expect.stringContaining(`(${code}). `),
      })
      expect(stderr).not.toContain('deployed: {')
    }
    expect(readFileSync(join(cwd, 'network.json'), 'utf8')).toBe(before)
    expect(existsSync(join(cwd, 'poor.json'))).toBe(false)
    expect(await run(`${deploy} --key owner.key --force`)).toMatchObject({ code: 0 })
    expect(readFileSync(join(cwd, 'network.json'), 'utf8')).not.toBe(before)
  })

  it('lets the owner add and remove trackers, a tracker change its address, and nobody else anything', async () => {
    const [first, second] = ['ws://127.0.0.1:30300', 'wss://tracker.example:30300']
    const add = (url: string, key: string) =>
      run(`registry add-tracker ${trackerId} ${url} --network network.json --key ${key}`)
    const remove = (key: string) =>
      run(`registry remove-tracker ${trackerId} --network network.json --key ${key}`)
    const refused = { code: 77, stdout: '', stderr: expect.stringContaining('OWNABLE_UNAUTHORIZED_ACCOUNT') }

    expect(await add(first, 'tracker.key')).toMatchObject(refused)
    expect(await add('http://127.0.0.1:1', 'owner.key')).toMatchObject({ code: 64 })
    expect(await shownTrackers()).toEqual([])
    expect(await add(first, 'owner.key')).toMatchObject({
      code: 0,
      stdout: `added ${trackerId} ${first}\n`,
    })
    expect(await remove('tracker.key')).toMatchObject(refused)
    expect(await add(second, 'tracker.key')).toMatchObject({
      code: 0,
      stdout: `updated ${trackerId} ${second}\n`,
    })
    expect(await shownTrackers()).toEqual([{ nodeId: trackerId, url: second }])
    expect((await run('registry show --network network.json')).stdout).toContain(`${trackerId} ${second}\n`)
    expect(await remove('owner.key')).toMatchObject({ code: 0, stdout: `removed ${trackerId}\n` })
    expect(await shownTrackers()).toEqual([])
    expect(await remove('owner.key')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('NOT_FOUND'),
    })
  })

  it('says so when an account cannot pay', async () => {
    const poorId = (await run('key show poor.key')).stdout.trim()
    const add = `registry add-tracker ${poorId} ws://127.0.0.1:1`
    expect(await run(`${add} ${asOwner}`)).toMatchObject({ code: 0 })
    expect(await run(`${add} --network network.json --key poor.key`)).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(`: ${poorId} \\(INSUFFICIENT_FUNDS\\)\\. .*chain fund`),
    })
    expect(await run(`registry remove-tracker ${poorId} ${asOwner}`)).toMatchObject({ code: 0 })
  })

  it('gets to know a tracker that registers itself, and its new address at the next start', async () => {
    const { url, nodeId, command } = await startTracker(
      '--key tracker.key --register --network network.json --owner-key owner.key',
    )
    expect(nodeId).toBe(trackerId)
    expect(await shownTrackers()).toEqual([{ nodeId: trackerId, url }])
    command.process.kill('SIGTERM')
    expect(await command.ended).toMatchObject({ code: 0, stdout: '' })
    const moved = await startTracker(
      '--key tracker.key --register --network network.json --public-url ws://tracker.example:1',
    )
    expect(moved.url).toBe('ws://tracker.example:1')
    expect(await shownTrackers()).toEqual([{ nodeId: trackerId, url: moved.url }])
  })

  it('registers a tracker in the network that is found by default', async () => {
    const env = { RUNNEL_NETWORK: 'network.json' }
    const command = ['tracker', '--port', '0', '--register', '--key', 'owner.key', '--log-level', 'silent']
    const tracker = startRunnel(command, { cwd, env })
    await tracker.said(/HTTP at \S+\n/)
    const ownerId = (await run('key show owner.key')).stdout.trim()
    expect(await shownTrackers()).toContainEqual({ nodeId: ownerId, url: expect.stringMatching(/^ws:/) })
    expect(await run(`registry remove-tracker ${ownerId} ${asOwner}`)).toMatchObject({ code: 0 })
  })

  it('has a storage node register itself, and take itself out again', async () => {
    const own = '--network network.json --key tracker.key'
    const stored = async () => (await run('storage list --network network.json')).stdout
    expect(await run(`registry add-storage ws://127.0.0.1:1 ${own}`)).toMatchObject({ code: 0 })
    expect(await stored()).toContain(trackerId)
    expect(await run(`registry remove-storage ${own}`)).toMatchObject({
      ...{ code: 0, stdout: `removed ${trackerId}\n` },
    })
    expect(await stored()).not.toContain(trackerId)
    expect(await run(`registry remove-storage ${own}`)).toMatchObject({
      ...{ code: 1, stdout: '', stderr: expect.stringContaining('Nothing was changed') },
    })
  })

  it('ends a tracker that may not register', async () => {
    const result = await run(
      'tracker --port 0 --key poor.key --register --network network.json --log-level silent',
    )
    expect(result).toMatchObject({
      code: 77,
      stderr: expect.stringContaining('OWNABLE_UNAUTHORIZED_ACCOUNT'),
    })
  })
})

describe('runnel tracker', { timeout: timeoutMs }, () => {
  const stream = `0x${'a'.repeat(40)}/x`
  const subscribe = ['subscribe', stream, '--network', 'static.json']

  it('speaks TLS with those who trust its certificate', async () => {
    makeCertificate()
    const tracker = await startTracker('--tls-cert cert.pem --tls-key cert.key')
    expect([tracker.url, tracker.httpUrl]).toEqual([
      expect.stringMatching(/^wss:/),
      expect.stringMatching(/^https:/),
    ])
    expect(await statusOf(`${tracker.httpUrl}/health`, readFileSync(join(cwd, 'cert.pem'), 'utf8'))).toBe(200)
    writeNetwork(tracker)
    const doubting = await runRunnel([...subscribe, '--for', '1s'], { cwd })
    expect(doubting.stderr).toContain('TLS_FAILED')
    const env = { NODE_EXTRA_CA_CERTS: join(cwd, 'cert.pem') }
    const ports = ['--http-port', '0', '--websocket-port', '0']
    const node = ['node', '--network', 'static.json', '--observer-streams', stream, ...ports]
    const trusting = startRunnel(node, { cwd, env })
    await trusting.said('tracker connected')
    expect(trusting.stderr()).not.toContain('TLS_FAILED')
  })

  it('has the older of two nodes with the same key give in, and say what to do', async () => {
    writeNetwork(await startTracker('--log-level silent'))
    await run('key new same.key')
    const node = 'node --network static.json --key same.key --http-port 0 --websocket-port 0'
    const start = () => startRunnel([...node.split(' '), '--observer-streams', stream], { cwd })
    const first = start()
    await first.said('tracker connected')
    const second = start()
    await first.said('"code":"NODE_REPLACED"')
    await second.said('tracker connected')
    expect(first.stderr()).toContain('Stop one of the two')
    const status = /status at (\S+)\/v1\/status/.exec(first.stderr())?.[1]
    expect(await (await fetch(`${status}/ready`)).json()).toMatchObject({
      reasons: [{ code: 'NODE_REPLACED' }],
    })
    expect(second.stderr()).not.toContain('NODE_REPLACED')
  })

  it('hands out STUN servers, and TURN servers with credentials made from a secret it keeps to itself', async () => {
    const secret = 'correct horse battery staple'
    write('turn.secret', `${secret}\n`)
    const flags = '--ice-server stun:stun.example:3478 --turn-url turn:turn.example:3478'
    const tracker = await startTracker(`${flags} --turn-secret-file turn.secret --log-level debug`)
    const { nodeId, servers } = await iceServersFrom(tracker)
    const [stun, turn] = servers
    expect(stun).toEqual({ url: 'stun:stun.example:3478', username: '', credential: '' })
    expect(turn?.url).toBe('turn:turn.example:3478')
    expect(turn?.username).toMatch(new RegExp(`^\\d+:${nodeId}$`))
    expect(turn?.credential).toBe(
      createHmac('sha1', secret)
        .update(turn?.username ?? '')
        .digest('base64'),
    )
    tracker.command.process.kill('SIGTERM')
    const { code, stderr } = await tracker.command.ended
    expect(code).toBe(0)
    expect(stderr).not.toContain(secret)
    expect(stderr).not.toContain(turn?.credential)
  })

  it('wants a secret for TURN', async () => {
    expect(await run('tracker --turn-url turn:turn.example')).toMatchObject({
      code: 64,
      stderr: expect.stringContaining('turn-secret-file'),
    })
    expect(await run('tracker --turn-url turn:turn.example --turn-secret-file gone')).toMatchObject({
      code: 78,
      stderr: expect.stringContaining('(FILE_UNREADABLE). '),
    })
  })

  function writeNetwork({ nodeId, url }: { nodeId: string; url: string }): void {
    const streams = [{ id: stream, permissions: [{ user: 'public', publish: true, subscribe: true }] }]
    write('static.json', JSON.stringify({ version: 1, trackers: [{ nodeId, url }], streams }))
  }
})

/** A certificate for 127.0.0.1 that signs itself. */
function makeCertificate(): void {
  const kind = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '1']
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=IP:127.0.0.1']
  const files = ['-keyout', 'cert.key', '-out', 'cert.pem']
  execFileSync('openssl', ['req', ...kind, ...subject, ...files], { cwd, stdio: 'ignore' })
}

function statusOf(url: string, ca: string): Promise<number | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<number | undefined>()
  request(url, { ca, agent: false }, (response) => {
    response.resume()
    resolve(response.statusCode)
  })
    .once('error', reject)
    .end()
  return promise
}

/** Connects as a node would and waits for what the tracker says about ICE. */
async function iceServersFrom(tracker: { nodeId: string; url: string }) {
  const crypto = await loadCrypto()
  const identity = createIdentity(generatePrivateKey(systemRandom), crypto)
  const transport = new WebSocketTransport(
    { role: 'node' },
    { identity, crypto, clock: systemClock, random: systemRandom },
  )
  await transport.start()
  const { promise, resolve, reject } =
    Promise.withResolvers<Extract<ReturnType<typeof decodePacket>, { type: 'iceServers' }>>()
  transport.dial({
    peerId: toNodeId(tracker.nodeId),
    url: tracker.url,
    onFail: reject,
    onOpen: (connection) => {
      connection.events = {
        onPacket: (type, body) => {
          const packet = decodePacket(type, body.slice())
          if (packet.type === 'iceServers') resolve(packet)
        },
        onDrain: () => {},
        onClose: ({ code }) => reject(new Error(code)),
      }
      const contact = { addresses: [{ kind: 'webrtc', text: '' }], dials: ['websocket', 'webrtc'] }
      connection.send(encodePacket({ type: 'nodeInfo', contact }))
    },
  })
  const { servers } = await promise.finally(() => transport.stop())
  return { nodeId: identity.nodeId, servers }
}
