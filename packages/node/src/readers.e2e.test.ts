import { once } from 'node:events'
import type { Readable } from 'node:stream'
import type { RunnelClient } from '@runnel/client'
import { toStreamPartId, type StreamId } from '@runnel/protocol'
import { Wallet } from 'ethers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startRunnel, stopAll, type RunningCommand } from './cli.testkit.ts'
import { collect, StorageNetwork, untilReport, type StorageProcess } from './storage-network.testkit.ts'

const timeoutMs = 300_000

describe('durable readers, with processes that are killed', { timeout: timeoutMs }, () => {
  const network = new StorageNetwork()
  let owner: RunnelClient
  let readerKey: string
  let keys: readonly string[]
  let nodes: StorageProcess[]

  beforeAll(async () => {
    await network.start()
    readerKey = network.newKey()
    keys = [network.newKey(), network.newKey()]
    owner = await network.client({ privateKey: network.ownerKey })
    nodes = await Promise.all(keys.map((key, i) => network.startStorage(`node ${i}`, key)))
  }, timeoutMs)

  afterAll(async () => {
    await stopAll()
    await network.stop()
  }, timeoutMs)

  async function newStream(path: string): Promise<StreamId> {
    const { id } = await owner.createStream({ path, partitions: 2 })
    await owner.grant(id, { user: 'public', permissions: ['subscribe'] })
    for (const node of nodes) {
      await owner.addToStorageNode(id, node.nodeId)
      await untilReport(node, ({ kept }) => kept.includes(toStreamPartId(id, 1)))
    }
    return id
  }

  /** A process that prints what it reads, and takes a line for done when it is out. */
  function startReader(stream: StreamId, flags = ''): RunningCommand {
    const line = `subscribe ${stream} --reader work ${flags} --network ${network.networkFile}`
    const env = { RUNNEL_PRIVATE_KEY: readerKey }
    return startRunnel(line.split(' ').filter(Boolean), { cwd: network.directory, env })
  }

  async function publish(client: RunnelClient, stream: StreamId, from: number, to: number): Promise<void> {
    const sent = []
    for (let i = from; i < to; i++) sent.push(await client.publish(stream, i, { partition: i % 2 }))
    await client.waitForStorage(sent)
  }

  const printed = (command: RunningCommand) => command.stdout().split('\n').filter(Boolean).map(Number)
  const upTo = (count: number) => Array.from({ length: count }, (_, i) => i)

  async function until(commands: readonly RunningCommand[], isSo: () => boolean): Promise<void> {
    while (!isSo()) {
      const waiting = new AbortController()
      const { signal } = waiting
      const more = commands.map(({ process }) => once(process.stdout as Readable, 'data', { signal }))
      await Promise.race(more)
      for (const other of more) other.catch(() => {})
      waiting.abort()
    }
  }
  async function untilAll(commands: readonly RunningCommand[], count: number): Promise<void> {
    await until(commands, () => new Set(commands.flatMap(printed)).size === count)
  }
  async function kill({ process, ended }: RunningCommand): Promise<void> {
    process.kill('SIGKILL')
    await ended
  }

  it('miss nothing when they, the publisher and the storage nodes are killed one after the other', async () => {
    const stream = await newStream('killed')
    const publisher = await network.client({ privateKey: network.ownerKey })
    await publish(publisher, stream, 0, 100)
    const first = startReader(stream)
    await untilAll([first], 100)
    await publish(publisher, stream, 100, 150)
    await until([first], () => printed(first).length > 100)
    await kill(first)
    await publish(publisher, stream, 150, 200)
    await publisher.close()
    const [one, other] = nodes as [StorageProcess, StorageProcess]
    await kill(one.command)
    const second = startReader(stream)
    await untilAll([first, second], 200)
    await publish(owner, stream, 200, 250)
    await untilAll([first, second], 250)
    nodes = [await network.startStorage('node 0', keys[0] ?? ''), other]
    await kill(other.command)
    nodes = [nodes[0] as StorageProcess, await network.startStorage('node 1', keys[1] ?? '')]
    await publish(owner, stream, 250, 300)
    await untilAll([first, second], 300)
    await kill(second)
    const third = startReader(stream)
    await publish(owner, stream, 300, 301)
    await untilAll([first, second, third], 301)
    expect(new Set([first, second, third].flatMap(printed))).toEqual(new Set(upTo(301)))
    // What it stores when it is told to end comes no second time.
    third.process.kill('SIGINT')
    expect(await third.ended).toMatchObject({ code: 0 })
    const fourth = startReader(stream, '--count 1')
    await publish(owner, stream, 301, 302)
    expect(await fourth.ended).toMatchObject({ code: 0, stdout: '301\n' })
  })

  it('are given all that is stored of a publisher that was killed', async () => {
    const stream = await newStream('publisher')
    const reader = startReader(stream)
    await reader.said('reading')
    const input = upTo(20_000).join('\n')
    const line = `publish ${stream} --network ${network.networkFile}`.split(' ')
    const env = { RUNNEL_PRIVATE_KEY: network.ownerKey }
    const publisher = startRunnel(line, { cwd: network.directory, env, input })
    await until([reader], () => printed(reader).length > 100)
    await kill(publisher)
    await publish(owner, stream, 20_000, 20_002)
    await until([reader], () => printed(reader).includes(20_000) && printed(reader).includes(20_001))
    const stored = await collect(owner.resend<number>(stream, { from: 0 }))
    const wanted = new Set(stored.map(({ content }) => content))
    await until([reader], () => new Set(printed(reader)).size >= wanted.size)
    expect(new Set(printed(reader))).toEqual(wanted)
  })

  it('share the work of a group, and take over what one had that is killed', async () => {
    const stream = await newStream('shared')
    const members = [1, 2, 3].map(() => startReader(stream, '--group'))
    await Promise.all(members.map((member) => member.said('reading')))
    const publishers = await Promise.all(upTo(12).map(() => network.client({ privateKey: network.ownerKey })))
    let count = 0
    const publishAll = async () => {
      for (const publisher of publishers) await publish(publisher, stream, count, (count += 4))
    }
    await publishAll()
    await untilAll(members, count)
    const [killed, ...others] = members as [RunningCommand, ...RunningCommand[]]
    killed.process.kill('SIGSTOP')
    await publishAll()
    await kill(killed)
    await untilAll(members, count)
    expect(new Set(members.flatMap(printed))).toEqual(new Set(upTo(count)))
    for (const member of others) expect(printed(member).length).toBeGreaterThan(0)
    await publishAll()
    await untilAll(others, count - printed(killed).filter((i) => !others.flatMap(printed).includes(i)).length)
    expect(new Set(members.flatMap(printed))).toEqual(new Set(upTo(count)))
  })

  it('read what is encrypted, and end when the user may not read any more', async () => {
    const { id } = await owner.createStream({ path: 'private', partitions: 2 })
    const user = new Wallet(readerKey).address
    await owner.grant(id, { user, permissions: ['subscribe'] })
    for (const node of nodes) {
      await owner.addToStorageNode(id, node.nodeId)
      await untilReport(node, ({ kept }) => kept.includes(toStreamPartId(id, 1)))
    }
    await publish(owner, id, 0, 10)
    const first = startReader(id)
    await untilAll([first], 10)
    await kill(first)
    await publish(owner, id, 10, 20)
    const second = startReader(id)
    await untilAll([first, second], 20)
    await owner.revoke(id, { user, permissions: ['subscribe'] })
    const { code, stderr } = await second.ended
    expect([code, stderr]).toEqual([77, expect.stringContaining('NO_SUBSCRIBE_PERMISSION')])
  })

  it('are shown and put elsewhere by the command line, and refused without storage', async () => {
    const stream = await newStream('shown')
    await publish(owner, stream, 0, 5)
    const env = { RUNNEL_PRIVATE_KEY: readerKey }
    const run = (line: string) => network.run(`${line} --network ${network.networkFile}`, env)
    for (const line of [`reader show ${stream} work`, `reader reset ${stream} work`]) {
      const { code, stderr } = await run(line)
      expect([code, stderr]).toEqual([1, expect.stringContaining('NO_SUCH_READER')])
    }
    expect(await run(`subscribe ${stream} --reader work --count 5`)).toMatchObject({ code: 0 })
    const shown = JSON.parse((await run(`reader show ${stream} work --json`)).stdout) as object
    expect(shown).toEqual({
      ...{ name: 'work', chains: 2, doneBeforeMs: 0 },
      backlog: { messages: 0, hasMore: false, oldestMs: 0 },
    })
    expect(await run(`reader reset ${stream} work`)).toMatchObject({ code: 0 })
    expect(await run(`reader reset ${stream} early --create`)).toMatchObject({ code: 0 })
    expect(await run(`reader show ${stream} early`)).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(
        /^done before  no time yet\nchains       0\nnot done     5, the oldest .+ old\n$/,
      ) as string,
    })
    const { stdout } = await run(`subscribe ${stream} --reader work --count 5`)
    expect(stdout.trim().split('\n').map(Number).sort()).toEqual(upTo(5))
    expect(await run(`subscribe ${stream} --reader work --last 5`)).toMatchObject({ code: 64 })
    const { id } = await owner.createStream({ path: 'nowhere' })
    await owner.grant(id, { user: 'public', permissions: ['subscribe'] })
    const refused = await run(`subscribe ${id} --reader work`)
    expect([refused.code, refused.stderr]).toEqual([69, expect.stringContaining('NO_STORAGE_NODE')])
  })
})
