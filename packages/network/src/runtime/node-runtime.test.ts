import type { BuiltBatch, NodeId } from '@runnel/protocol'
import { systemClock } from '@runnel/protocol/system'
import { createTransports, type Transport } from '@runnel/transport'
import { describe, expect, it } from 'vitest'
import { ChainOrder, chainOrderLimits, type Ordered } from '../core/order/chain-order.ts'
import type { NetworkNodeModules } from '../create-network-node.ts'
import {
  everybodyMay,
  identityOf,
  neighboursOf,
  memoryContact,
  partId,
  Swarm,
  TestPublisher,
  ScriptedTracker,
  turn,
} from '../network.testkit.ts'

describe('a swarm of nodes', () => {
  it('forms the overlay the tracker wants and floods each message to everybody, once', async () => {
    const swarm = new Swarm()
    const members = await swarm.grow(12)
    expect(members.map(neighboursOf).map(({ length }) => length)).toEqual(Array(12).fill(4))
    const publisher = new TestPublisher('publisher', swarm.clock)
    const sent = Array.from({ length: 50 }, (_, i) => `message ${i}`)
    for (const text of sent) {
      expect(members[3]?.node.publish(publisher.next(text))).toBe(true)
      swarm.clock.advanceBy(20)
    }
    swarm.clock.advanceBy(200)
    for (const member of members) expect(member.texts()).toEqual(sent)
    const metrics = members[0]?.node.metrics()
    expect(metrics?.streamParts[0]).toMatchObject({ wantedNeighbours: 4, delivered: 50 })
  })

  it('reports to the tracker what it has', async () => {
    const swarm = new Swarm()
    const members = await swarm.grow(5)
    for (const member of members) {
      const status = swarm.tracker.lastStatus(member.node.nodeId)
      expect(status?.neighbours.map(({ nodeId }) => nodeId).toSorted()).toEqual(
        neighboursOf(member).toSorted(),
      )
    }
  })

  it('goes on when the tracker is gone, and is not torn down when it is back', async () => {
    const swarm = new Swarm()
    const members = await swarm.grow(8)
    const before = members.map((member) => neighboursOf(member).toSorted())
    await turn(swarm, swarm.trackerTransport.stop())
    swarm.clock.advanceBy(60_000)
    members[0]?.node.publish(new TestPublisher('p', swarm.clock).next('without tracker'))
    swarm.clock.advanceBy(200)
    for (const member of members) expect(member.texts()).toEqual(['without tracker'])

    swarm.trackerTransport = swarm.wire('tracker', 'tracker')
    swarm.tracker = new ScriptedTracker(swarm.trackerTransport)
    swarm.tracker.instructing = false
    await swarm.trackerTransport.start()
    swarm.clock.advanceBy(60_000)
    expect(members.map((member) => neighboursOf(member).toSorted())).toEqual(before)
    const reported = members.map(({ node }) => swarm.tracker.lastStatus(node.nodeId)?.neighbours.length)
    expect(reported).toEqual(Array(8).fill(4))
  })

  it('heals when the links of a node break', async () => {
    const swarm = new Swarm()
    const members = await swarm.grow(8)
    const [first] = members
    if (first === undefined) throw new Error('no members')
    swarm.network.breakLinks(first.node.nodeId)
    swarm.clock.advanceBy(30_000)
    expect(neighboursOf(first)).toHaveLength(4)
  })

  it('dials its tracker at once when the network of its machine is back', async () => {
    const swarm = new Swarm()
    const [first] = await swarm.grow(1)
    if (first === undefined) throw new Error('no members')
    const trackersOpen = () => first.node.metrics().counters['trackers.open']
    await turn(swarm, swarm.trackerTransport.stop())
    swarm.clock.advanceBy(60_000)
    let failed = false
    first.node.on('tracker', () => (failed = true))
    while (!failed) swarm.clock.advanceBy(10)
    swarm.trackerTransport = swarm.wire('tracker', 'tracker')
    swarm.tracker = new ScriptedTracker(swarm.trackerTransport)
    await swarm.trackerTransport.start()
    swarm.clock.advanceBy(1_000)
    expect(trackersOpen()).toBe(0)
    swarm.networkBack(first)
    swarm.clock.advanceBy(100)
    expect(trackersOpen()).toBe(1)
  })

  it('dials its neighbours at once when the network of its machine is back', async () => {
    const swarm = new Swarm()
    const [first] = await swarm.grow(8)
    if (first === undefined) throw new Error('no members')
    swarm.network.breakLinks(first.node.nodeId)
    swarm.clock.advanceBy(200)
    expect(neighboursOf(first)).toEqual([])
    swarm.networkBack(first)
    swarm.clock.advanceBy(100)
    expect(neighboursOf(first)).toHaveLength(4)
    await turn(swarm, first.node.stop())
    swarm.networkBack(first)
  })

  it('gives a newcomer what was published while it looked for neighbours', async () => {
    const swarm = new Swarm({ latencyMs: 50 })
    const members = await swarm.grow(6)
    const newcomer = swarm.make('newcomer')
    await newcomer.node.start()
    newcomer.node.join(partId)
    members[2]?.node.publish(new TestPublisher('p', swarm.clock).next('early'))
    swarm.clock.advanceBy(5_000)
    expect(newcomer.texts()).toEqual(['early'])
  })

  it('gets what a node publishes as it leaves, though the tracker mends the overlay before it has come', async () => {
    const [guestId, trackerId] = [identityOf('guest').nodeId, identityOf('tracker').nodeId]
    const isFar = (from: NodeId, to: NodeId) =>
      [from, to].includes(guestId) && ![from, to].includes(trackerId)
    const latencyMs = (from: NodeId, to: NodeId) => (isFar(from, to) ? 300 : 5)
    const swarm = new Swarm({ latencyMs })
    const members = await swarm.grow(8)
    const guest = swarm.make('guest')
    await guest.node.start()
    guest.node.join(partId)
    await turn(swarm, guest.node.waitForNeighbours(partId))
    swarm.clock.advanceBy(1_000)
    guest.node.publish(new TestPublisher('guest', swarm.clock).next('and off'))
    await turn(swarm, guest.node.stop())
    swarm.clock.advanceBy(5_000)
    for (const member of members) expect(member.texts()).toEqual(['and off'])
  })

  it('receives nothing of stream parts it has not joined', async () => {
    const swarm = new Swarm()
    const members = await swarm.grow(6)
    const stranger = swarm.make('stranger')
    await stranger.node.start()
    members[0]?.node.publish(new TestPublisher('p', swarm.clock).next('not for strangers'))
    swarm.clock.advanceBy(5_000)
    expect(stranger.deliveries).toEqual([])
    expect(stranger.node.metrics().counters).toMatchObject({ 'links.open': 0, 'trackers.open': 0 })
  })

  it('lets go of what it leaves', async () => {
    const swarm = new Swarm()
    const members = await swarm.grow(6)
    const [first, ...others] = members
    first?.node.leave(partId)
    swarm.clock.advanceBy(30_000)
    expect(first?.node.streamParts).toEqual([])
    expect(first?.node.metrics().counters).toMatchObject({ 'links.open': 0, 'trackers.open': 0 })
    for (const member of others) expect(neighboursOf(member)).toHaveLength(4)
  })
})

describe('a node', () => {
  it('keeps its order when a listener publishes or throws', async () => {
    const swarm = new Swarm()
    const [first, second] = await swarm.grow(2)
    if (first === undefined || second === undefined) throw new Error('no members')
    const echo = new TestPublisher('echo', swarm.clock)
    const dropped: string[] = []
    second.node.on('dropped', (counter) => dropped.push(counter))
    second.node.on('message', () => {
      throw new Error('a bug in the application')
    })
    second.node.on('message', ({ from }) => {
      if (from !== undefined) second.node.publish(echo.next('echo'))
    })
    first.node.publish(new TestPublisher('p', swarm.clock).next('hello'))
    swarm.clock.advanceBy(100)
    expect(first.texts()).toEqual(['hello', 'echo'])
    expect(second.texts()).toEqual(['hello', 'echo'])
    expect(dropped).toEqual(['listener.failed', 'listener.failed'])
  })

  it('says when its neighbours take no more, and when they do again', async () => {
    const swarm = new Swarm()
    const [first, second] = await swarm.grow(2)
    if (first === undefined || second === undefined) throw new Error('no members')
    swarm.network.setReading(second.node.nodeId, false)
    const publisher = new TestPublisher('p', swarm.clock)
    const text = 'x'.repeat(200_000)
    let sent = 0
    while (first.node.publish(publisher.next(text))) {
      swarm.clock.advanceBy(10)
      if (++sent > 100) throw new Error('the queue has no high mark')
    }
    let writable = false
    const promise = first.node.writable(partId).then(() => (writable = true))
    await Promise.resolve()
    expect(writable).toBe(false)
    swarm.network.setReading(second.node.nodeId, true)
    swarm.clock.advanceBy(1_000)
    await promise
    expect(second.deliveries).toHaveLength(sent + 1)
  })

  it('waits for neighbours, until it is told not to', async () => {
    const swarm = new Swarm()
    await swarm.trackerTransport.start()
    const { node } = swarm.make('alone')
    await node.start()
    await expect(node.waitForNeighbours(partId)).rejects.toMatchObject({ code: 'NOT_JOINED' })
    node.join(partId)
    const abort = new AbortController()
    const aborted = node.waitForNeighbours(partId, { signal: abort.signal })
    abort.abort(new Error('enough'))
    await expect(aborted).rejects.toThrow('enough')
    const pending = node.waitForNeighbours(partId, { count: 1 })
    const other = swarm.make('other')
    await other.node.start()
    other.node.join(partId)
    swarm.clock.advanceBy(2_000)
    await pending
    const forever = node.waitForNeighbours(partId, { count: 9 })
    await turn(swarm, node.stop())
    await expect(forever).rejects.toMatchObject({ code: 'NODE_NOT_RUNNING' })
  })

  it('delivers in order what fills a gap as one batch: its last message is no less missing than its second', async () => {
    const swarm = new Swarm()
    const { node } = swarm.make('alone')
    await node.start()
    node.join(partId)
    const order = new ChainOrder(chainOrderLimits, {
      isMissing: (chain, place) => node.isMissing(partId, chain, place),
    })
    const ordered: Ordered[] = []
    node.on('message', ({ message }) => ordered.push(...order.push(message)))
    const publisher = new TestPublisher('p', swarm.clock)
    const batches = [['1'], ['2', '3', '4'], ['5', '6']].map((texts) => publisher.batchOf(texts))
    for (const i of [0, 2, 1]) node.relay((batches[i] as BuiltBatch).bytes)
    const texts = ordered.map((item) =>
      item.kind === 'message' ? new TextDecoder().decode(item.message.content) : 'gap',
    )
    expect(texts).toEqual(['1', '2', '3', '4', '5', '6'])
    await turn(swarm, node.stop())
  })

  it('counts the verifying threads that its process lost', () => {
    const swarm = new Swarm()
    const verification = { workersLost: 2, verify: () => false, stop() {} }
    const { node } = swarm.make('alone', {}, everybodyMay, swarm.clock, { verification })
    expect(node.metrics().counters['data.verifiersLost']).toBe(2)
  })

  it('refuses to publish where it has not joined, and when it does not run', async () => {
    const swarm = new Swarm()
    const { node } = swarm.make('alone')
    const batch = new TestPublisher('p', swarm.clock).next('x')
    expect(() => node.publish(batch)).toThrow(expect.objectContaining({ code: 'NODE_NOT_RUNNING' }))
    await node.start()
    expect(() => node.publish(batch)).toThrow(expect.objectContaining({ code: 'NOT_JOINED' }))
    expect(() => node.relay(batch.bytes)).toThrow(expect.objectContaining({ code: 'NOT_JOINED' }))
    await turn(swarm, Promise.all([node.stop(), node.stop()]))
    await expect(node.start()).resolves.toBeUndefined()
    expect(() => node.join(partId)).toThrow(expect.objectContaining({ code: 'NODE_NOT_RUNNING' }))
  })

  it('leaves nothing open when it is stopped while it starts', async () => {
    const swarm = new Swarm()
    const opened: Transport[] = []
    const transports: NetworkNodeModules['transports'] = (modules) => {
      const websocket = { listen: { host: '127.0.0.1', port: 0 } }
      opened.push(...createTransports({ websocket, webrtc: false, circuits: false }, modules))
      return opened
    }
    const { node } = swarm.make('hasty', {}, everybodyMay, systemClock, { transports })
    const starting = expect(node.start()).rejects.toMatchObject({ code: 'NODE_NOT_RUNNING' })
    await node.stop()
    await starting
    expect(opened.map(({ addresses }) => addresses)).toEqual([[]])
  })

  it('does not take a node for a tracker', async () => {
    const swarm = new Swarm()
    const impostor = swarm.wire('tracker', 'node')
    await impostor.start()
    const { node } = swarm.make('node')
    const errors: (string | undefined)[] = []
    node.on('tracker', (_, state, error) => errors.push(`${state} ${error?.code}`))
    await node.start()
    node.join(partId)
    swarm.clock.advanceBy(100)
    expect(errors).toEqual(['disconnected NOT_A_TRACKER'])
  })

  it('hangs up on a tracker that sends what no tracker sends', async () => {
    const swarm = new Swarm()
    const [member] = await swarm.grow(1)
    if (member === undefined) throw new Error('no member')
    const states: string[] = []
    member.node.on('tracker', (_, state) => states.push(state))
    swarm.tracker.send(member.node.nodeId, { type: 'nodeInfo', contact: memoryContact })
    swarm.clock.advanceBy(10_000)
    expect(states).toEqual(['disconnected', 'connected'])
  })
})
