import { once } from 'node:events'
import { copyFileSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  newDirectory,
  printedCommand,
  runRunnel,
  startRunnel,
  stopAll,
  type RunningCommand,
} from '../cli.testkit.ts'

/** Each command is a process, and the machine may be busy. */
const timeoutMs = 240_000
const cwd = newDirectory()
const run = (...args: string[]) => runRunnel(args, { cwd })
const update = (...words: string[]) =>
  run('network', 'update', ...words, '--file', 'network/network.json', '--key', 'network/owner.key')

/** Two that are free at the same time. */
async function freePorts(): Promise<number[]> {
  const servers = [createServer(), createServer()]
  await Promise.all(servers.map((server) => once(server.listen(0, '127.0.0.1'), 'listening')))
  const ports = servers.map((server) => (server.address() as AddressInfo).port)
  await Promise.all(servers.map((server) => once(server.close(), 'close')))
  return ports
}

describe('a network without a chain', { timeout: timeoutMs }, () => {
  let printed: string
  let owner: string
  let trackers: RunningCommand[]
  let served: string
  let user: string

  beforeAll(async () => {
    const urls = (await freePorts()).map((port) => `ws://127.0.0.1:${port}`)
    const flags = urls.flatMap((url) => ['--tracker', url])
    printed = (await run('network', 'init', ...flags, '--public-stream', '/lobby', '--stream', '/orders'))
      .stdout
    owner = /^owner +(0x\w+)/.exec(printed)?.[1] ?? ''
    const commands = printed.split('\n').filter((line) => / tracker --key /.test(line))
    trackers = commands.map((line) => startRunnel(printedCommand(line, 'tracker'), { cwd }))
    await Promise.all(trackers.map((tracker) => tracker.said('HTTP at')))
    served = `${urls[0]?.replace('ws', 'http')}/v1/network-document#${owner}`
    user = (await run('key', 'new', 'user.key')).stdout.trim()
  }, timeoutMs)
  afterAll(stopAll)

  it('is made by one command, which prints what starts it', async () => {
    for (const key of ['owner.key', 'tracker-1.key', 'tracker-2.key'])
      expect(statSync(join(cwd, 'network', key)).mode & 0o777).toBe(0o600)
    expect(printed).toContain(`/v1/network-document#${owner}`)
    const shown = await run('network', 'show', '--file', 'network/network.json', '--json')
    expect(JSON.parse(shown.stdout)).toMatchObject({
      owner,
      revision: 1,
      trackers: [{}, {}],
      streams: [{}, {}],
    })
    expect((await run('network', 'init')).stderr).toMatch(/FILE_EXISTS|already exists/)
  })

  it('carries messages, and a grant works in what runs', async () => {
    const node = startRunnel(
      [
        ...['node', '--network', 'network/network.json', '--key', 'user.key', '--http-port', '0'],
        ...['--websocket-port', '0', '--stream', `${owner}/lobby`, '--stream', `${owner}/orders`],
      ],
      { cwd },
    )
    const isIn = (stream: string) => node.said(`${stream}","partitions":1,"msg":"joined the stream"`)
    await Promise.all([isIn('/lobby'), node.said('NO_SUBSCRIBE_PERMISSION')])
    const subscriber = startRunnel(['subscribe', `${owner}/lobby`, '--network', served], { cwd })
    await subscriber.said('subscribed to')
    const publish = (stream: string, key: string, text: string) =>
      runRunnel(['publish', `${owner}${stream}`, '--network', served, '--key', key], {
        cwd,
        input: `"${text}"\n`,
      })
    expect(await publish('/lobby', 'user.key', 'to everybody')).toMatchObject({ code: 0 })
    await subscriber.said('to everybody')
    // Who may not read is told so, and may once the owner says so.
    const read = ['subscribe', `${owner}/orders`, '--network', served, '--key', 'user.key']
    expect(await runRunnel(read, { cwd })).toMatchObject({ code: 77 })
    expect(await update('grant', '/orders', user, 'publish', 'subscribe')).toMatchObject({
      code: 0,
      stdout: 'network/network.json is revision 2\n',
    })
    // The reader has the document from this tracker.
    await Promise.all([isIn('/orders'), trackers[0]?.said('"revision":2')])
    const reader = startRunnel(read, { cwd })
    await reader.said('subscribed to')
    expect(await publish('/orders', 'network/owner.key', 'sealed')).toMatchObject({ code: 0 })
    await reader.said('sealed')
    expect(await update('add-stream', '/later')).toMatchObject({ code: 0 })
    await trackers[1]?.said('"revision":3')
  })

  it('ends a responder of a stream that its user may not read any more, with the reason', async () => {
    const responder = startRunnel(
      ['respond', `${owner}/orders`, '--with', '1', '--network', served, '--key', 'user.key'],
      { cwd },
    )
    await responder.said('responding in')
    expect(await update('revoke', '/orders', user, 'subscribe')).toMatchObject({ code: 0 })
    const { code, stderr } = await responder.ended
    expect([code, stderr]).toEqual([77, expect.stringContaining('NO_SUBSCRIBE_PERMISSION')])
  })

  it('refuses older documents and those of others', async () => {
    const document = join(cwd, 'network/network.json')
    copyFileSync(document, join(cwd, 'before.json'))
    const stranger = (await run('network', 'init', '--dir', 'stranger', '--tracker', 'ws://127.0.0.1:1'))
      .stdout
    expect(stranger).toContain('revision 1')
    expect(await update('add-stream', '/last')).toMatchObject({ code: 0 })
    await trackers[0]?.said('"revision":5')
    copyFileSync(join(cwd, 'before.json'), document)
    await trackers[0]?.said('"code":"NETWORK_DOCUMENT_OLDER"')
    copyFileSync(join(cwd, 'stranger/network.json'), document)
    await trackers[0]?.said('"code":"NETWORK_DOCUMENT_NOT_OWNERS"')
    const others = `${served.split('#')[0]}#${user}`
    const [wrongOwner, wrongKey, noOwner, noFile, spoiled] = await Promise.all([
      run('stream', 'list', '--network', others),
      run('network', 'update', 'add-stream', '/x', '--file', 'before.json', '--key', 'user.key'),
      run('stream', 'list', '--network', served.split('#')[0] ?? ''),
      run('network', 'update', 'add-stream', '/x', '--file', 'none.json', '--key', 'network/owner.key'),
      Promise.resolve().then(() => {
        const text = readFileSync(join(cwd, 'before.json'), 'utf8')
        writeFileSync(join(cwd, 'spoiled.json'), text.replace('/lobby', '/hobby'))
        return run('network', 'show', '--file', 'spoiled.json')
      }),
    ])
    expect(wrongOwner).toMatchObject({ code: 78 })
    expect(wrongOwner.stderr).toContain(`it is of ${owner}, the owner is ${user}`)
    expect(wrongKey).toMatchObject({ code: 78 })
    expect(noOwner).toMatchObject({ code: 78 })
    expect(noOwner.stderr).toContain('#0xowner')
    expect(noFile.stderr).toContain('none.json (ENOENT)')
    expect(spoiled).toMatchObject({ code: 78 })
    expect(spoiled.stderr).toContain(`the signature is not of ${owner}`)
  })

  it.each([
    [['add-tracker', '0x1234'], 'network update add-tracker takes NODE_ID URL'],
    [['grant', '/orders', 'public', 'grant'], 'grant cannot be public'],
    [['remove-stream', '/none'], '/none'],
    [['add-tracker', `0x${'1'.repeat(40)}`, 'http://x.example'], 'must be a ws:// or wss:// URL'],
  ])('says what is wrong with %s', async (words, text) => {
    copyFileSync(join(cwd, 'before.json'), join(cwd, 'edited.json'))
    const result = await run(
      ...['network', 'update', ...words, '--file', 'edited.json', '--key', 'network/owner.key'],
    )
    expect(result.code).not.toBe(0)
    expect(result.stderr).toContain(text)
    expect(readFileSync(join(cwd, 'edited.json'), 'utf8')).toBe(
      readFileSync(join(cwd, 'before.json'), 'utf8'),
    )
  })
})
