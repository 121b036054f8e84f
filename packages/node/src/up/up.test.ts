import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  errorLines,
  newDirectory,
  printedCommand,
  runRunnel,
  startRunnel,
  stopAll,
  type RunningCommand,
} from '../cli.testkit.ts'
import type { UpReport } from './report.ts'

/** Starting a network of processes takes its time on a busy machine. */
const timeoutMs = 240_000

interface Chained {
  readonly timestamp: number
  readonly previous: { readonly timestamp: number } | null
}

afterAll(stopAll, timeoutMs)

describe('runnel up --for', { timeout: timeoutMs }, () => {
  it('reports a run in which every subscriber got every message exactly once, whatever keys and settings the shell has', async () => {
    const args = ['up', '--nodes', '6', '--for', '3s', '--interval', '100ms', '--json']
    const env = { RUNNEL_PRIVATE_KEY: '01'.repeat(32), RUNNEL_STORAGE_ENABLED: 'false' }
    const { code, stdout, stderr } = await runRunnel(args, { env })
    const report = JSON.parse(stdout) as UpReport
    expect({ code, report, stderr }).toMatchObject({
      code: 0,
      report: { complete: true, degreesExact: true, died: [] },
    })
    expect(report.messagesPublished).toBeGreaterThan(4)
    expect(report.trackers).toHaveLength(2)
    expect(report.nodes.map(({ role }) => role)).toEqual(['publisher', ...Array(5).fill('subscriber')])
    for (const node of report.nodes) {
      expect(Object.values(node.degree)).toEqual([4, 4, 4, 4])
      expect(node).toMatchObject({ repeated: 0, missing: 0 })
    }
    for (const { delivered, latencyMs } of report.nodes.slice(1)) {
      expect(delivered).toBe(report.messagesPublished)
      expect(latencyMs?.p99).toBeGreaterThanOrEqual(latencyMs?.p50 ?? Infinity)
    }
    expect(report.storage).toMatchObject([{ queuedBatches: 0, droppedBatches: 0 }])
    expect(report.storage[0]?.storedMessages).toBe(report.messagesPublished)
    const kinds = new Set(report.nodes.flatMap(({ transport }) => transport))
    expect([...kinds].toSorted()).toEqual(['webrtc', 'websocket'])
  })
})

describe('runnel up', { timeout: timeoutMs }, () => {
  const cwd = newDirectory()
  let up: RunningCommand
  let lobby = ''
  let measured = ''

  beforeAll(async () => {
    up = startRunnel(['up', '--nodes', '3', '--trackers', '1'], { cwd })
    await up.said('runnel.js publish')
    lobby = /0x\w+\/lobby/.exec(up.stdout())?.[0] ?? ''
    measured = /0x\w+\/system\/cpu/.exec(up.stdout())?.[0] ?? ''
  }, timeoutMs)

  const network = ['--network', '.runnel/up/network.json']
  const withKey = [...network, '--key', '.runnel/up/keys/user.key']

  /** The commands as printed, without the program. */
  const printed = (verb: string, stream: string) => printedCommand(up.stdout(), `${verb} ${stream}`)

  it('prints where the explorer is, which knows the network', async () => {
    const url = /explorer {2}(http:\S+)/.exec(up.stdout())?.[1] ?? ''
    const page = await fetch(url)
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    expect(await page.text()).toContain('<title>Runnel explorer</title>')
    const file = JSON.parse(readFileSync(join(cwd, '.runnel/up/network.json'), 'utf8')) as { chain: object }
    const told = await (await fetch(new URL('/v1/network', url))).json()
    expect(told).toEqual({ kind: 'chain', ...file.chain })
  })

  it('has an encrypted stream, which the user reads back and nobody else', async () => {
    const secret = /private {3}(0x\w+\/private) {2}encrypted/.exec(up.stdout())?.[1] ?? ''
    const published = await runRunnel(printed('publish', secret), { cwd, input: '"psst"\n' })
    expect(published).toMatchObject({ code: 0 })
    const asOwner = [...printed('subscribe', secret), '--count', '1']
    expect(await runRunnel(asOwner, { cwd })).toMatchObject({ code: 0, stdout: '"psst"\n' })
    expect(await runRunnel(['resend', 'last', '1', secret, ...withKey], { cwd })).toMatchObject({
      code: 0,
      stdout: '"psst"\n',
    })
    // Neither the page that shows overlays nor the storage node needs a key for that.
    const explorer = /explorer {2}(http:\S+)/.exec(up.stdout())?.[1] ?? ''
    const listed = await (await fetch(new URL('/v1/stream-parts?contains=private', explorer))).text()
    expect(listed).toContain(`${secret}#0`)
    const node = ['--network', '.runnel/up/network.json', '--key', '.runnel/up/keys/node-2.key']
    expect(await runRunnel(['resend', 'last', '1', secret, ...node], { cwd })).toMatchObject({
      code: 77,
      stdout: '',
    })
  })

  it('prints commands that work', async () => {
    const subscriber = startRunnel([...printed('subscribe', lobby), '--count', '2'], { cwd })
    await subscriber.said('subscribed to')
    const input = '{"hello":"world"}\n[1,2]\n'
    expect(await runRunnel(printed('publish', lobby), { cwd, input })).toMatchObject({
      code: 0,
      stdout: '',
    })
    expect(await subscriber.ended).toMatchObject({ code: 0, stdout: input })
    const watcher = await runRunnel([...printed('subscribe', measured), '--count', '1', '--meta'], {
      cwd,
    })
    expect(JSON.parse(watcher.stdout)).toMatchObject({
      streamId: measured,
      contentType: 'json',
      content: { busy: expect.any(Number) },
    })
  })

  it('keeps what flows, and gives it again', async () => {
    const [all, ...rest] = printed('resend last 20', measured)
    expect([all, ...rest.slice(0, 2)]).toEqual(['resend', 'last', '20'])
    const page = /http:\S+\/v1\/storage/.exec(up.stdout())?.[0] ?? ''
    let stored = 0
    while (stored < 20) {
      const { usage } = (await (await fetch(page)).json()) as {
        usage: { streamPartId: string; messages: number }[]
      }
      stored = usage.find(({ streamPartId }) => streamPartId === `${measured}#0`)?.messages ?? 0
    }
    const { code, stdout } = await runRunnel(printed('resend last 20', measured), { cwd })
    const lines = stdout.trim().split('\n')
    expect({ code, lines: lines.length }).toEqual({ code: 0, lines: 20 })
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ busy: expect.any(Number) })
    const args = ['subscribe', measured, ...network, '--last', '10', '--count', '12', '--meta']
    const joined = await runRunnel(args, { cwd })
    const messages = joined.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Chained)
    expect(messages).toHaveLength(12)
    messages
      .slice(1)
      .forEach(({ previous }, index) => expect(previous?.timestamp).toBe(messages[index]?.timestamp))
    expect(statSync(join(cwd, '.runnel/up/storage/messages.sqlite')).size).toBeGreaterThan(0)
  })

  it('serves the status of its publisher', async () => {
    const url = /http:\S+\/v1\/status/.exec(up.stdout())?.[0] ?? ''
    const status = (await (await fetch(url)).json()) as {
      plugins: { measurements: { published: unknown[] } }
      trackers: unknown[]
    }
    expect(status.plugins.measurements.published).toHaveLength(4)
    expect(status.trackers).toEqual([{ nodeId: expect.any(String), connected: true }])
  })

  it('lets nobody publish without permission', async () => {
    const result = await runRunnel(['publish', measured, ...withKey], { cwd, input: '1\n' })
    expect(errorLines(result)).toEqual([expect.stringContaining('(NO_PUBLISH_PERMISSION). ')])
    expect(result.code).toBe(77)
  })

  it('says when there is no such stream', async () => {
    const missing = lobby.replace('lobby', 'loby')
    for (const args of [
      ['subscribe', missing],
      ['publish', missing],
      ['stream', 'show', missing],
    ]) {
      const result = await runRunnel([...args, ...network], { cwd, input: '1\n' })
      expect(errorLines(result)).toEqual([expect.stringContaining('(STREAM_NOT_FOUND). ')])
      expect(result.code).toBe(1)
    }
  })

  it('publishes what comes before a bad line, and names it', async () => {
    const subscriber = startRunnel(['subscribe', lobby, ...network, '--count', '3'], { cwd })
    await subscriber.said('subscribed to')
    const stopped = await runRunnel(['publish', lobby, ...network], { cwd, input: '1\n{"a":\n3\n' })
    expect(stopped).toMatchObject({ code: 65, stderr: expect.stringContaining('line 2: not JSON') })
    expect(errorLines(stopped)).toHaveLength(1)
    const huge = `"${'x'.repeat(1024 * 1024 + 1)}"`
    const skipping = ['publish', lobby, ...network, '--skip-invalid']
    const skipped = await runRunnel(skipping, { cwd, input: `2\n${huge}\nnope\n3\n` })
    expect(skipped).toMatchObject({ code: 0, stderr: expect.stringContaining('published 2, skipped 2') })
    expect(skipped.stderr).toMatch(/line 2: .*too large/)
    expect((await subscriber.ended).stdout).toBe('1\n2\n3\n')
  })

  it('lets streams be made, shared and deleted', async () => {
    const owner = [...network, '--key', '.runnel/up/keys/owner.key']
    const created = await runRunnel(['stream', 'create', '/mine', '--partitions', '3', ...owner], { cwd })
    const id = created.stdout.trim()
    expect(id).toBe(lobby.replace('lobby', 'mine'))
    expect(await runRunnel(['stream', 'grant', id, 'public', 'subscribe', ...owner], { cwd })).toMatchObject({
      code: 0,
    })
    const shown = await runRunnel(['stream', 'show', id, '--json', ...network], { cwd })
    expect(JSON.parse(shown.stdout)).toMatchObject({
      partitions: 3,
      permissions: [
        { user: 'public', publish: false, subscribe: true },
        { publish: true, grant: true },
      ],
    })
    expect(await runRunnel(['stream', 'revoke', id, 'public', 'subscribe', ...owner], { cwd })).toMatchObject(
      { code: 0 },
    )
    expect(await runRunnel(['stream', 'delete', id, ...withKey], { cwd })).not.toMatchObject({ code: 0 })
    expect(await runRunnel(['stream', 'delete', id, ...owner], { cwd })).toMatchObject({ code: 0 })
    const list = await runRunnel(['stream', 'list', ...network], { cwd })
    expect(list.stdout.trim().split('\n')).toHaveLength(6)
  })

  it('ends a subscription without a fuss when its reader goes away', async () => {
    const subscriber = startRunnel(['subscribe', measured, ...network], { cwd })
    await subscriber.said('subscribed to')
    subscriber.process.stdout?.destroy()
    expect(await subscriber.ended).toMatchObject({ code: 0, signal: null })
  })

  it('refuses a second network in the same directory', async () => {
    const second = await runRunnel(['up'], { cwd })
    expect(errorLines(second)).toEqual([expect.stringContaining('(UP_ALREADY_RUNNING). ')])
    expect(second.code).toBe(1)
  })

  it('notices the death of a process, and stops everything on SIGINT', async () => {
    expect(statSync(join(cwd, '.runnel/up/keys/owner.key')).mode & 0o777).toBe(0o600)
    const url = /http:\S+\/v1\/status/.exec(up.stdout())?.[0] ?? ''
    const { pid } = (await (await fetch(url)).json()) as { pid: number }
    process.kill(pid, 'SIGKILL')
    await up.said('ended unexpectedly')
    up.process.kill('SIGINT')
    const { code, stderr } = await up.ended
    expect(code).toBe(1)
    expect(stderr).toContain('(UP_CHILD_DIED). ')
    expect(existsSync(join(cwd, '.runnel/up/up.pid'))).toBe(false)
    const { chain } = JSON.parse(readFileSync(join(cwd, '.runnel/up/network.json'), 'utf8')) as {
      chain: { rpcUrl: string }
    }
    await expect(fetch(chain.rpcUrl)).rejects.toThrow()
  })
})
