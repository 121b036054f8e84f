import { toStreamId } from '@runnel/protocol'
import type { Tracker } from '@runnel/tracker'
import { VirtualClock } from '@runnel/transport'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { Clients, newAccount, startTracker } from './client.testkit.ts'
import type { Presence, PresenceEvent } from './index.ts'

const [owner, reader, stranger] = [newAccount(), newAccount(), newAccount()]
const open = toStreamId(`${owner.nodeId}/open`)
const secret = toStreamId(`${owner.nodeId}/secret`)

let tracker: Tracker
let clients: Clients
/** Of all clients; their sockets are in real time. */
let clock: VirtualClock

beforeAll(async () => {
  tracker = await startTracker()
  const members = [owner, reader].map(({ nodeId }) => ({ user: nodeId, publish: true, subscribe: true }))
  const document = {
    version: 1 as const,
    trackers: [{ nodeId: tracker.nodeId, url: tracker.url }],
    streams: [
      { id: open, permissions: [{ user: 'public', subscribe: true }] },
      { id: secret, permissions: members },
    ],
  }
  clients = new Clients({ network: { kind: 'static', document } })
})
beforeEach(() => {
  clock = new VirtualClock({ startMs: Date.now() })
})
afterEach(() => clients.closeAll())
afterAll(() => tracker.stop())

const start = (account = newAccount()) => clients.create({ privateKey: account.privateKey }, { clock })
/** The next event, without the end of the iteration that a loop would bring. */
async function next(presence: Presence): Promise<PresenceEvent> {
  const { value } = await presence[Symbol.asyncIterator]().next()
  return value ?? expect.fail('the presence ended')
}

describe('presence in a stream', () => {
  it('tells who joins, says something else, leaves, and who is there when one comes later', async () => {
    const [alice, bob, carol] = [await start(), await start(), await start()]
    const watch = await bob.presence(open)
    const presence = await alice.presence(open, { as: { name: 'alice' } })
    const member = { userId: alice.userId, nodeId: alice.nodeId, data: { name: 'alice' } }
    expect(await next(watch)).toEqual({ type: 'joined', ...member })
    expect(await next(presence)).toEqual({ type: 'joined', ...member })
    const later = await carol.presence(open)
    await carol.network.waitForNeighbours(`${open}#100` as never)
    clock.advanceBy(10_000)
    expect(await next(later)).toEqual({ type: 'joined', ...member })
    expect([later.count, later.members]).toEqual([1, [member]])
    const changed = presence.enter({ name: 'al' })
    // It looks first whether the stream is encrypted, which is known here.
    await new Promise((resolve) => setImmediate(resolve))
    clock.advanceBy(10_000)
    await changed
    expect(await next(watch)).toMatchObject({ type: 'changed', data: { name: 'al' } })
    const left = presence.leave()
    clock.advanceBy(10_000)
    await left
    expect(await next(watch)).toMatchObject({ type: 'left', userId: alice.userId })
    expect([watch.count, presence.count]).toEqual([0, 0])
  })

  it('tells who goes with a goodbye, and who is gone without one', async () => {
    const [watcher, polite, killed] = [await start(), await start(), await start()]
    const watch = await watcher.presence(open)
    for (const client of [polite, killed]) {
      await client.presence(open, { as: 1 })
      expect(await next(watch)).toMatchObject({ type: 'joined', nodeId: client.nodeId })
    }
    await polite.close()
    expect(await next(watch)).toMatchObject({ type: 'left', nodeId: polite.nodeId })
    await killed.network.stop()
    clock.advanceBy(24_999)
    expect(watch.count).toBe(1)
    clock.advanceBy(1)
    expect(await next(watch)).toMatchObject({ type: 'lost', nodeId: killed.nodeId })
  })

  it('tells two processes of one user apart', async () => {
    const [watcher, ...both] = [await start(), await start(owner), await start(owner)]
    const watch = await watcher.presence(open)
    for (const client of both) await client.presence(open, { as: 'me' })
    expect(new Set([(await next(watch)).nodeId, (await next(watch)).nodeId])).toEqual(
      new Set(both.map(({ nodeId }) => nodeId)),
    )
    expect(watch.members.map(({ userId }) => userId)).toEqual([owner.nodeId, owner.nodeId])
  })

  it('is without data where the stream is encrypted, and for its members only', async () => {
    const [one, other, nobody] = [await start(owner), await start(reader), await start(stranger)]
    const watch = await one.presence(secret)
    await expect(other.presence(secret, { as: { name: 'x' } })).rejects.toMatchObject({
      code: 'PRESENCE_NOT_ENCRYPTED',
    })
    await (await other.presence(secret)).enter()
    expect(await next(watch)).toEqual({
      ...{ type: 'joined', userId: other.userId, nodeId: other.nodeId, data: undefined },
    })
    await expect(nobody.presence(secret)).rejects.toMatchObject({ code: 'NO_SUBSCRIBE_PERMISSION' })
  })

  it('refuses what is too large, or entered already, and ends with its signal', async () => {
    const client = await start()
    const ending = new AbortController()
    const presence = await client.presence(open, { signal: ending.signal })
    for (const data of ['x'.repeat(255), () => {}])
      await expect(presence.enter(data)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
    const second = await client.presence(open)
    await presence.enter('x'.repeat(254))
    await expect(second.enter()).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
    ending.abort()
    for (const each of [presence, second]) {
      expect(await next(each)).toMatchObject({ type: 'joined' })
      expect(await next(each)).toMatchObject({ type: 'left' })
    }
    await expect(next(presence)).rejects.toThrow('ended')
    await expect(client.presence(open, { signal: ending.signal })).rejects.toMatchObject({ code: 'ABORTED' })
  })
})
