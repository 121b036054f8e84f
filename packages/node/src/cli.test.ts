import { spawnSync } from 'node:child_process'
import { closeSync, mkdirSync, openSync, statSync, writeFileSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { toNodeId } from '@runnel/protocol'
import { afterEach, describe, expect, it } from 'vitest'
import {
  errorLines,
  newDirectory,
  program,
  runRunnel,
  startAtTerminal,
  startRunnel,
  stopAll,
} from './cli.testkit.ts'

const someone = toNodeId(`0x${'a'.repeat(40)}`)
const stream = `${someone}/x`
/** A port nobody listens on: reserved, and never given out. */
const deadPort = 1
const registries = { trackerRegistry: someone, streamRegistry: someone, storageRegistry: someone }

afterEach(stopAll)

function directoryWith(files: Record<string, unknown>): string {
  const directory = newDirectory()
  for (const [name, content] of Object.entries(files)) {
    const text = typeof content === 'string' ? content : JSON.stringify(content)
    writeFileSync(join(directory, name), text, { mode: 0o600 })
  }
  return directory
}

function staticNetwork(trackers: readonly { nodeId: string; url: string }[] = []) {
  const permissions = [{ user: 'public', publish: true, subscribe: true }]
  return { version: 1, trackers, streams: [{ id: stream, permissions }] }
}

describe('runnel refuses', () => {
  const chain = { version: 1, chain: { rpcUrl: `http://127.0.0.1:${deadPort}`, registries } }
  const cwd = directoryWith({
    'bad.key': 'not a key',
    'chain.json': chain,
    'static.json': staticNetwork(),
    'broken.json': '{',
    'mistyped.json': { version: 1, trackerz: [], streams: [] },
    'config.json': { http: { prot: 1 } },
  })

  it.each<[string, number, string, string]>([
    ['pubish x', 64, 'USAGE', 'did you mean publish?'],
    ['nonsense', 64, 'USAGE', 'there is no command nonsense (USAGE). '],
    ['stream nonsense', 64, 'USAGE', 'there is no command stream nonsense (USAGE). '],
    [`stream grant ${stream} public read`, 64, 'USAGE', '"read" is no permission: publish, subscribe'],
    ['stream crate', 64, 'USAGE', 'did you mean create?'],
    [`publish ${stream} --netwrk x`, 64, 'USAGE', 'did you mean --network?'],
    ['node --http-prt 1', 64, 'USAGE', 'did you mean --http-port?'],
    ['node --thin-floods=on', 64, 'USAGE', '--thin-floods is true or false, not "on" (USAGE). See: '],
    ['--log-level warn node --thin-floods=on', 64, 'USAGE', ' node --help.'],
    ['stream list --json=1', 64, 'USAGE', '--json is true or false, not "1"'],
    ['bench resend --users http', 64, 'USAGE', '--users is not "http", but one of "light"'],
    ['bench pub --users', 64, 'USAGE', '--users needs a value'],
    ['key show --key', 64, 'USAGE', '--key needs a value'],
    ['key show --key a --key b', 64, 'USAGE', '--key is given more than once'],
    [`publish ${stream} --key.a b`, 64, 'USAGE', 'Unknown argument: key.a'],
    [`presence ${stream} --enter --for`, 64, 'USAGE', '--for needs a value'],
    ['', 64, 'USAGE', 'needs a command'],
    ['stream', 64, 'USAGE', 'stream --help'],
    ['publish', 64, 'USAGE', 'missing stream (Stream id: 0xowner/path'],
    [`stream grant ${stream} public`, 64, 'USAGE', 'missing permissions (publish, subscribe, edit'],
    [`stream grant ${stream} 0x1234 publish`, 64, 'USAGE', '"0x1234" is no user: an address'],
    [
      'resend last 20',
      64,
      'USAGE',
      'missing stream (Stream id: 0xowner/path, or /path for a stream of your own) (USAGE). See: ',
    ],
    [`publish ${stream} {"a": --network static.json`, 65, 'INPUT_INVALID', 'message 1: not JSON'],
    [`subscribe ${stream} --network static.json --partition 7`, 64, 'PARTITION_OUT_OF_RANGE', '7'],
    ['publish not-a-stream --network static.json', 64, 'INVALID_STREAM_ID', 'not-a-stream'],
    [`subscribe ${stream} --network static.json --for ever`, 64, 'USAGE', '--for takes a duration'],
    [`subscribe ${stream} --network static.json --count 0`, 64, 'USAGE', '--count'],
    ['up --nodes 1', 64, 'USAGE', '--nodes takes a whole number'],
    ['node init --stream lobby', 78, 'CONFIG_INVALID', 'streams.0: must be 0xowner/path'],
    ['node init --out /dev/full --force', 69, 'DISK_FULL', '/dev/full'],
    ['node --config config.json', 78, 'CONFIG_INVALID', 'unknown key http.prot; did you mean port?'],
    ['node --plugins {"gone":{}} --network static.json', 78, 'PLUGIN_NOT_FOUND', 'gone, looked for from'],
    ['node --config gone.json', 78, 'CONFIG_NOT_FOUND', 'gone.json'],
    ['node', 78, 'NETWORK_NOT_CONFIGURED', '--network'],
    [`publish ${stream}`, 78, 'NETWORK_NOT_CONFIGURED', '--network'],
    [`publish ${stream} --network gone.json`, 78, 'NETWORK_FILE_MISSING', 'gone.json'],
    [`publish ${stream} --network broken.json`, 78, 'NETWORK_FILE_INVALID', 'broken.json'],
    [`publish ${stream} --network mistyped.json`, 78, 'NETWORK_FILE_INVALID', 'has no key "trackerz"'],
    [`publish ${stream} --network static.json --key bad.key`, 78, 'INVALID_KEY', 'private key'],
    [`publish ${stream} --network static.json --key gone.key`, 78, 'KEY_FILE_MISSING', 'gone.key'],
    ['stream create /x --network static.json', 78, 'KEY_REQUIRED', 'runnel.js key new'],
    ['registry show --network static.json', 78, 'CHAIN_NOT_CONFIGURED', 'chain'],
    [`publish ${stream} --network chain.json`, 69, 'CHAIN_UNREACHABLE', `127.0.0.1:${deadPort}`],
    ['registry show --network chain.json', 69, 'CHAIN_UNREACHABLE', `127.0.0.1:${deadPort}`],
    [`subscribe ${stream} --network static.json --last 0`, 64, 'USAGE', '--last'],
    [`subscribe ${stream} --network static.json --from tomorrow`, 64, 'USAGE', '--from takes a time'],
    [`resend last x ${stream} --network static.json`, 64, 'USAGE', 'resend last takes a whole number'],
    [`resend last 99999999999 ${stream} --network static.json`, 64, 'USAGE', '10000000'],
    [`resend from yesterday ${stream} --network static.json`, 64, 'USAGE', 'resend from takes a time'],
    [`resend range -1h -2h ${stream} --network static.json`, 64, 'USAGE', '"-1h" is after "-2h"'],
    [`subscribe ${stream} --network static.json --last x`, 64, 'USAGE', 'not "x"'],
    [`subscribe ${stream} --network static.json --for -10s`, 64, 'USAGE', 'not "-10s"'],
    [`resend last 3 ${stream} --network static.json`, 69, 'NO_STORAGE_NODE', 'runnel.js storage add'],
    [`resend last 3 ${stream} --network static.json --partition 7`, 64, 'PARTITION_OUT_OF_RANGE', '7'],
    [`resend last 3 ${someone}/missing --network static.json`, 1, 'STREAM_NOT_FOUND', 'missing'],
    [`storage add ${stream} ${someone} --network static.json`, 78, 'KEY_REQUIRED', 'runnel.js key new'],
    ['storage token nobody --network static.json', 64, 'INVALID_NODE_ID', 'nobody'],
    ['registry add-storage http://x --network static.json', 64, 'USAGE', 'ws://'],
    ['node --storage-retention-streams {x --network static.json', 78, 'CONFIG_INVALID', 'storage.retention'],
    ['node --storage-engine oracle --network static.json', 64, 'USAGE', 'not "oracle", but one of "sqlite"'],
    [`subscribe ${someone}/missing --network static.json`, 1, 'STREAM_NOT_FOUND', 'missing'],
    ['subscribe /mine --network static.json', 78, 'KEY_REQUIRED', 'a path alone names a stream of your own'],
  ])('%s (exit code %i)', async (line, exitCode, code, hint) => {
    const result = await runRunnel(
      line.split(' ').filter((word) => word !== ''),
      { cwd },
    )
    expect(errorLines(result)).toEqual([expect.stringContaining(`(${code}). `)])
    expect(result).toMatchObject({ code: exitCode, stdout: '', stderr: expect.stringContaining(hint) })
  })

  it('in JSON when asked to', async () => {
    const result = await runRunnel(['publish', 'x', '--network', 'static.json', '--json'], { cwd })
    expect(JSON.parse(result.stderr)).toMatchObject({ error: { code: 'INVALID_STREAM_ID' } })
  })

  it('never showing a key it was given', async () => {
    const secret = 'f'.repeat(64)
    const env = { RUNNEL_PRIVATE_KEY: secret }
    const result = await runRunnel(['key', 'show', '--log-level', 'debug'], { cwd, env })
    expect(result).toMatchObject({ code: 78, stderr: expect.stringContaining('INVALID_KEY') })
    expect(result.stderr).not.toContain(secret.slice(0, 16))
  })
})

describe('runnel', () => {
  it('ends with 69 when no tracker can be reached', async () => {
    const trackers = [{ nodeId: someone, url: `ws://127.0.0.1:${deadPort}` }]
    const cwd = directoryWith({ 'network.json': staticNetwork(trackers) })
    const args = ['publish', stream, '--network', 'network.json']
    const result = await runRunnel(args, { cwd, input: '1\n' })
    expect(result).toMatchObject({ code: 69, stderr: expect.stringContaining('(TRACKER_UNREACHABLE). ') })
  })

  it('ends with 78, and does not call it published, when others refuse what its clock dates', async () => {
    const inAnHour = () => new Date(Date.now() + 3_600_000).toUTCString()
    const server = createHttpServer((_, response) => void response.setHeader('date', inAnHour()).end())
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const trackers = [{ nodeId: someone, url: `ws://127.0.0.1:${port}` }]
    const cwd = directoryWith({ 'network.json': staticNetwork(trackers) })
    const result = await runRunnel(['publish', stream, '1', '--network', 'network.json'], { cwd })
    server.close()
    expect(result.stderr).toContain(
      '60 min behind, so that other nodes refuse its messages, and it theirs (CLOCK_WRONG). Set it',
    )
    expect(result.stderr).not.toContain('published 1')
    expect(result.code).toBe(78)
  })

  it.each([
    ['tracker --port'],
    ['node --network network.json --websocket-port 0 --http-port'],
    ['node --network network.json --http-port 0 --websocket-port'],
  ])('ends with 69 when the port is taken: %s', async (line) => {
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const cwd = directoryWith({ 'network.json': staticNetwork() })
    const result = await runRunnel([...line.split(' '), String(port), '--log-level', 'silent'], { cwd })
    server.close()
    expect(result).toMatchObject({ code: 69, stderr: expect.stringContaining('(PORT_IN_USE). ') })
    expect(result.stderr).toContain(String(port))
  })

  it('makes keys only their owner can read, and never overwrites one', async () => {
    const cwd = newDirectory()
    const made = await runRunnel(['key', 'new', 'my.key'], { cwd })
    expect(made).toMatchObject({ code: 0, stdout: expect.stringMatching(/^0x[0-9a-f]{40}\n$/) })
    expect(statSync(join(cwd, 'my.key')).mode & 0o777).toBe(0o600)
    expect((await runRunnel(['key', 'show', 'my.key'], { cwd })).stdout).toBe(made.stdout)
    const again = await runRunnel(['key', 'new', 'my.key'], { cwd })
    expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining('KEY_FILE_EXISTS') })
  })

  it('runs a node from the configuration it wrote, and stops it on SIGTERM', async () => {
    const cwd = directoryWith({ 'network.json': staticNetwork() })
    const init = ['node', 'init', '--http-port', '0', '--websocket-port', '0']
    expect(await runRunnel(init, { cwd })).toMatchObject({ code: 0 })
    const node = startRunnel(['node', '--log-level', 'warn'], { cwd })
    await node.said(/status at http:\S+\/v1\/status/)
    const url = /http:\S+\/v1\/status/.exec(node.stderr())?.[0] ?? ''
    expect(await (await fetch(url)).json()).toMatchObject({ streamParts: [], trackers: [] })
    node.process.kill('SIGTERM')
    expect(await node.ended).toMatchObject({ code: 0, signal: null, stdout: '' })
  })

  it.each([['--version'], ['--help'], ['storage', 'token', '--help']])(
    'ends %s with 69 and one line where the disk behind its output is full',
    (...args) => {
      const full = openSync('/dev/full', 'w')
      const { status, stderr } = spawnSync(process.execPath, [program, ...args], {
        stdio: ['ignore', full, 'pipe'],
        encoding: 'utf8',
      })
      closeSync(full)
      expect({ status, stderr }).toEqual({
        status: 69,
        stderr: expect.stringMatching(/^runnel: .*\(DISK_FULL\).*\n$/),
      })
    },
  )

  it('says how it ends in every help', async () => {
    for (const args of [
      ['--help'],
      ['publish', '--help'],
      ['stream', '--help'],
      ['node', 'init', '--help'],
    ]) {
      const { code, stdout } = await runRunnel(args)
      expect(code).toBe(0)
      expect(stdout.split('Exit codes: 0 ok')).toHaveLength(2)
    }
  })

  it('shows the options of a command alone, and examples that can be copied', async () => {
    const { stdout } = await runRunnel(['tracker', 'status', '--help'])
    expect(stdout).toContain('--network')
    expect(stdout).not.toContain('--turn-url')
    const { stdout: help } = await runRunnel(['publish', '--help'])
    expect(help.replace(/ \\\n +/g, ' ')).toContain(
      `publish 0xowner/lobby '{"hello":"world"}' --network network.json\n`,
    )
  })

  it('says at a terminal what publish waits for', async () => {
    const cwd = directoryWith({ 'network.json': staticNetwork() })
    const command = startAtTerminal(['publish', stream, '--network', 'network.json'], { cwd })
    await command.said('one per line; Ctrl-D ends')
    command.process.stdin?.write('\x04')
    expect(await command.ended).toMatchObject({ code: 0, stdout: expect.stringContaining('published 0') })
  })

  it('takes the network of runnel up in its folder, and says so', async () => {
    const cwd = newDirectory()
    mkdirSync(join(cwd, '.runnel/up'), { recursive: true })
    writeFileSync(join(cwd, '.runnel/up/network.json'), JSON.stringify(staticNetwork()))
    const result = await runRunnel(['stream', 'list'], { cwd })
    expect(result).toMatchObject({
      code: 0,
      stdout: `${stream}\n`,
      stderr: expect.stringContaining('up/network.json'),
    })
  })
})
