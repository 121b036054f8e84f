import type { RunnelClient } from '@runnel/client'
import { toStreamPartId, type StreamId } from '@runnel/protocol'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { stopAll } from './cli.testkit.ts'
import { collect, StorageNetwork, untilReport, type StorageProcess } from './storage-network.testkit.ts'

const timeoutMs = 300_000

describe('last values and tables, with storage nodes', { timeout: timeoutMs }, () => {
  const network = new StorageNetwork()
  let owner: RunnelClient
  let nodes: readonly StorageProcess[]

  beforeAll(async () => {
    await network.start()
    owner = await network.client({ privateKey: network.ownerKey })
    nodes = await Promise.all(['first', 'second'].map((name) => network.startStorage(name, network.newKey())))
  }, timeoutMs)

  afterAll(async () => {
    await stopAll()
    await network.stop()
  }, timeoutMs)

  async function newStream(path: string, partitions = 1): Promise<StreamId> {
    const { id } = await owner.createStream({ path, partitions })
    for (const node of nodes) {
      await owner.addToStorageNode(id, node.nodeId)
      await untilReport(node, ({ kept }) => kept.includes(toStreamPartId(id, 0)))
    }
    return id
  }

  it('give the newest message of each key of an encrypted stream, without those that were removed', async () => {
    const stream = await newStream('table', 3)
    const sent = []
    for (const [key, value] of [
      ['a', 1],
      ['b', 2],
      ['a', 3],
      ['c', 4],
      ['b', 5],
    ] as const)
      // prettier-ignore
      sent.push(await owner.publish(stream, value, { key }))
    // The last, as the removal may be in the same partition.
    sent.push(await owner.remove(stream, 'c'), await owner.publish(stream, 'of no key'))
    await owner.waitForStorage(sent, { count: 2 })
    const reader = await network.client({ privateKey: network.ownerKey })
    const table = await collect(reader.table<number>(stream))
    expect(table.map(({ key, content }) => [key, content]).sort()).toEqual([
      ['a', 3],
      ['b', 5],
    ])
    await expect(collect(reader.table(stream, { maxBytes: 1_000 }))).rejects.toMatchObject({
      code: 'TABLE_TOO_LARGE',
      message: expect.stringContaining('maxBytes, which is 1000'),
    })
    expect((await reader.last(stream, { key: 'a', from: 'storage' }))?.content).toBe(3)
    expect(await reader.last(stream, { key: 'c', from: 'storage' })).toBeUndefined()
    expect(await reader.last(stream, { key: 'd', from: 'storage' })).toBeUndefined()
    const { partition } = sent.at(-1) ?? { partition: 0 }
    expect((await reader.last(stream, { partition, from: 'storage' }))?.content).toBe('of no key')
    expect(reader.network.streamParts).toEqual([])
  })

  it('are for the command line, too', async () => {
    const stream = await newStream('sensors')
    const env = { RUNNEL_PRIVATE_KEY: network.ownerKey }
    const run = (line: string) => network.run(`${line} --network ${network.networkFile}`, env)
    const values = ['{"room":"kitchen","t":20}', '{"room":"cellar","t":8}', '{"room":"kitchen","t":21}']
    expect(await run(`publish ${stream} ${values.join(' ')} --key-field room`)).toMatchObject({ code: 0 })
    expect(await run(`publish ${stream} 1013 --message-key pressure`)).toMatchObject({ code: 0 })
    for (const node of nodes)
      await untilReport(node, ({ usage }) => usage.some(({ streamPartId, messages }) => streamPartId === toStreamPartId(stream, 0) && messages === 4)) // prettier-ignore
    expect(await run(`last ${stream} --message-key kitchen`)).toMatchObject({
      code: 0,
      stdout: `${values[2]}\n`,
    })
    expect(await run(`last ${stream} --message-key attic --from neighbours`)).toMatchObject({ code: 1 })
    const { code, stdout } = await run(`resend table ${stream} --meta`)
    const lines = stdout.trim().split('\n').map((line) => JSON.parse(line) as { key: string; content: unknown }) // prettier-ignore
    expect([code, lines.map(({ key }) => key).sort()]).toEqual([0, ['cellar', 'kitchen', 'pressure']])
  })
})
