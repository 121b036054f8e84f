import { toStreamId, toStreamPartId } from '@runnel/protocol'
import type { Tracker } from '@runnel/tracker'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { Clients, newAccount, startTracker } from './client.testkit.ts'

const [owner, sensor] = [newAccount(), newAccount()]
const open = toStreamId(`${owner.nodeId}/open`)
const measured = toStreamId(`${owner.nodeId}/measured`)

let tracker: Tracker
let clients: Clients

beforeAll(async () => {
  tracker = await startTracker()
  const all = { publish: true, subscribe: true }
  const document = {
    version: 1 as const,
    trackers: [{ nodeId: tracker.nodeId, url: tracker.url }],
    streams: [
      { id: open, partitions: 2, permissions: [{ user: 'public' as const, ...all }] },
      {
        id: measured,
        permissions: [
          { user: owner.nodeId, ...all },
          { user: sensor.nodeId, publish: true },
        ],
      },
    ],
  }
  clients = new Clients({ network: { kind: 'static', document } })
})
afterEach(() => clients.closeAll())
afterAll(() => tracker.stop())

const start = (account = newAccount()) => clients.create({ privateKey: account.privateKey })

describe('how many are in a stream', () => {
  it('is told of the partitions that one is in, whether or not anybody wants to be seen', async () => {
    const [one, two, three] = [await start(), await start(), await start()]
    await one.subscribe(open)
    await two.subscribe(open, { partitions: [1] })
    await three.subscribe(open)
    for (const client of [one, two, three])
      await client.network.waitForNeighbours(toStreamPartId(open, 1), { count: 2 })
    for (const client of [one, three]) await client.network.waitForNeighbours(toStreamPartId(open, 0))
    const partitions = [
      { partition: 0, readers: 2, feeders: 0 },
      { partition: 1, readers: 3, feeders: 0 },
    ]
    expect(await one.count(open)).toEqual({ readers: 3, feeders: 0, partitions })
    expect(await two.count(open)).toEqual({ readers: 3, feeders: 0, partitions: partitions.slice(1) })
    const presence = await one.presence(open)
    expect(presence.count).toBe(0)
    await three.close()
    expect(await one.count(open)).toMatchObject({ readers: 2, feeders: 0 })
  })

  it('is told to who only publishes, who is counted apart', async () => {
    const [reader, feeder] = [await start(owner), await start(sensor)]
    await reader.subscribe(measured)
    await feeder.publish(measured, 21.5)
    for (const client of [reader, feeder])
      expect(await client.count(measured)).toMatchObject({ readers: 1, feeders: 1 })
  })

  it('is told to nobody who is not in it', async () => {
    const client = await start()
    await expect(client.count(open)).rejects.toMatchObject({ code: 'STREAM_NOT_JOINED' })
    // In the key part alone.
    await client.presence(open)
    await expect(client.count(open)).rejects.toMatchObject({ code: 'STREAM_NOT_JOINED' })
    await client.subscribe(open)
    await expect(client.count(open, { signal: AbortSignal.abort() })).rejects.toMatchObject({
      code: 'ABORTED',
    })
    const ending = new AbortController()
    const counted = client.count(open, { signal: ending.signal })
    ending.abort()
    await expect(counted).rejects.toMatchObject({ code: 'ABORTED' })
  })
})
