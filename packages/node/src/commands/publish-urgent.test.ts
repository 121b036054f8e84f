import type { Tracker } from '@runnel/tracker'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newDirectory, runRunnel, startRunnel, stopAll, type RunningCommand } from '../cli.testkit.ts'
import { startDocumentNetwork } from '../document-network.testkit.ts'
import { urgentOf } from './publish-urgent.ts'

/** Each command is a process, and the machine may be busy. */
const timeoutMs = 300_000
const cwd = newDirectory()
const owner = `0x${'a'.repeat(40)}`
const network = ['--network', 'network.json']

const run = (words: readonly string[], input = '') => runRunnel([...words, ...network], { cwd, input })

/** How many nodes of a stream part there are, and how many pairs of them whose ends both say that they are linked. */
function linksOf({ overlays }: Tracker, id: string): readonly number[] {
  const overlay = overlays.find(({ streamPartId }) => streamPartId === id)
  return [overlay?.nodeCount ?? 0, overlay?.edges.filter(({ transport }) => transport !== null).length ?? 0]
}

describe('the options of urgent messages', () => {
  it('are those of the SDK, or its defaults', () => {
    expect(urgentOf({})).toBeUndefined()
    expect(urgentOf({ urgent: true })).toEqual({ lifetimeMs: undefined, priority: undefined })
    const given = urgentOf({ urgent: true, lifetime: '60s', priority: 0 })
    expect(given).toEqual({ lifetimeMs: 60_000, priority: 0 })
  })

  it.each([
    [{ lifetime: '1s' }, '--lifetime and --priority need --urgent'],
    [{ priority: 1 }, '--lifetime and --priority need --urgent'],
    [{ urgent: true, 'message-key': 'kitchen' }, 'cannot be used with --urgent'],
    [{ urgent: true, 'key-field': 'room' }, 'cannot be used with --urgent'],
    [{ urgent: true, lifetime: '61s' }, '--lifetime takes a duration from 1ms to 60s, not "61s"'],
    [{ urgent: true, lifetime: '1.5ms' }, '--lifetime takes a duration'],
    [{ urgent: true, lifetime: '200' }, '--lifetime takes a duration'],
    [{ urgent: true, priority: 256 }, '--priority takes a whole number from 0 to 255'],
  ])('are refused: %o', (options, text) => {
    expect(() => urgentOf(options)).toThrow(text)
  })
})

describe('urgent messages of the command line', { timeout: timeoutMs }, () => {
  let tracker: Tracker

  beforeAll(async () => {
    const paths = ['one', 'some', 'many', 'guests', 'nobody']
    const streams = paths.map((path) => ({ id: `${owner}/${path}` }))
    tracker = await startDocumentNetwork(cwd, [...streams, { id: `${owner}/parts`, partitions: 3 }])
  })
  afterAll(async () => {
    await stopAll()
    await tracker.stop()
  })

  async function subscribed(path: string, ...options: string[]): Promise<RunningCommand> {
    const command = startRunnel(['subscribe', `${owner}/${path}`, ...options, ...network], { cwd })
    await command.said(/listening to|subscribed to/)
    return command
  }

  it('reach each subscriber that asks for them, also the only one of a publisher that nobody has heard of', async () => {
    const [one, other, ordinary] = await Promise.all([
      subscribed('one', '--urgent', '--count', '2', '--meta'),
      subscribed('one', '--urgent', '--count', '2'),
      subscribed('one', '--count', '2'),
    ])
    const publish = ['publish', `${owner}/one`]
    // Of another publisher.
    expect(await run([...publish, '"first"'])).toMatchObject({ code: 0 })
    await Promise.all([one, other, ordinary].map((command) => command.said('"first"')))
    // It may have come to each directly: what is urgent is for those that are linked, and comes to the others by them.
    await expect.poll(() => linksOf(tracker, `${owner}/one#0`), { timeout: timeoutMs }).toEqual([3, 3])
    const options = ['--urgent', '--lifetime', '30s', '--priority', '7']
    const sent = await run([...publish, ...options, '{"x":1}'])
    expect(sent).toMatchObject({ code: 0, stderr: expect.stringContaining('published 1\n') })
    const urgent = { lifetimeMs: 30_000, priority: 7, object: 0, order: 'oldest' }
    const [, line = ''] = (await one.ended).stdout.split('\n')
    expect(JSON.parse(line)).toMatchObject({ urgent, content: { x: 1 } })
    expect((await other.ended).stdout).toBe('"first"\n{"x":1}\n')
    expect(await run([...publish, '"ordinary"', '--message-key', 'k'])).toMatchObject({ code: 0 })
    expect((await ordinary.ended).stdout).toBe('"first"\n"ordinary"\n')
  })

  it('go to the partition of their key', async () => {
    const reader = await subscribed('parts', '--urgent', '--count', '4', '--meta')
    const options = ['--urgent', '--lifetime', '30s', '--partition-key', 'room']
    const input = '{"room":"a"}\n{"room":"c"}\n'.repeat(2)
    expect(await run(['publish', `${owner}/parts`, ...options], input)).toMatchObject({ code: 0 })
    const came = (await reader.ended).stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { readonly partition: number; readonly content: { room: string } })
    const [a, c] = ['a', 'c'].map(
      (room) =>
        new Set(came.filter(({ content }) => content.room === room).map(({ partition }) => partition)),
    )
    expect([a?.size, c?.size]).toEqual([1, 1])
    expect(c).not.toEqual(a)
  })

  it('are dropped above the share of a publisher, and the command says so', async () => {
    const reader = await subscribed('many', '--urgent')
    const input = '1\n'.repeat(1_000)
    const { code, stderr, stdout } = await run(['publish', `${owner}/many`, '--urgent', '--json'], input)
    expect({ code, stderr }).toMatchObject({ code: 0 })
    const { published, alone, dropped } = JSON.parse(stdout) as {
      published: number
      alone: number
      dropped: { overShare: number }
    }
    expect({ published, alone }).toEqual({ published: 1_000, alone: 0 })
    expect(dropped.overShare).toBeGreaterThan(0)
    reader.process.kill('SIGINT')
    const lines = (await reader.ended).stdout.trim().split('\n')
    expect(lines.length).toBeLessThanOrEqual(1_000 - dropped.overShare)
    const said = await run(['publish', `${owner}/many`, '--urgent'], input)
    expect(said.stderr).toMatch(/published 1000, \d+ dropped: more than 200 a second/)
  })

  it('go through a node that serves guests, too', async () => {
    const flags = ['--guests-serve', '--websocket-port', '0', '--no-webrtc-enabled', '--no-http-enabled']
    const host = startRunnel(['node', ...network, ...flags, '--log-format', 'json'], { cwd })
    await host.said('the node is running')
    const url = /ws:\/\/127\.0\.0\.1:\d+/.exec(host.stderr() + host.stdout())?.[0] ?? ''
    const reader = await subscribed('guests', '--urgent', '--count', '1', '--via', url)
    const options = ['--urgent', '--lifetime', '30s', '--via', url]
    const sent = await run(['publish', `${owner}/guests`, '1', ...options])
    expect(sent).toMatchObject({ code: 0, stderr: expect.stringContaining('published 1\n') })
    expect((await reader.ended).stdout).toBe('1\n')
  })

  it('reach nobody where nobody is, which the command says', async () => {
    const { code, stderr } = await run(['publish', `${owner}/nobody`, '1', '--urgent'])
    expect([code, stderr]).toEqual([0, expect.stringContaining('published 1, 1 reached nobody')])
  })

  it('are at most 255 KiB, and nothing for durable readers', async () => {
    const large = await run(['publish', `${owner}/some`, '--urgent'], `"${'x'.repeat(300_000)}"`)
    expect([large.code, large.stderr]).toEqual([65, expect.stringContaining('line 1: ')])
    const durable = await run(['subscribe', `${owner}/some`, '--urgent', '--reader', 'r'])
    expect([durable.code, durable.stderr]).toEqual([64, expect.stringContaining('with --reader')])
  })
})
