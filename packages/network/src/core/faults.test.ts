import { toStreamPartId, type MessageRef, type ControlPacket, type StreamPartId } from '@runnel/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { networkLimits } from '../limits.ts'
import {
  attach,
  batchAt,
  closed,
  control,
  CoreScript,
  data,
  detach,
  idOf,
  identityOf,
  instruct,
  join,
  leave,
  opened,
  packetOf,
  partId,
  publish,
  startMs,
  streamId,
} from './core.testkit.ts'
import type { OverlayEvent } from './events.ts'

const otherPartId = toStreamPartId(streamId, 1)
const { minFaultRestMs, maxFaultRestMs, faultForgetMs } = networkLimits

function faulty(limits: ConstructorParameters<typeof CoreScript>[0] = {}, options = {}): CoreScript {
  const script = new CoreScript(limits, options)
  script.expectsFaults = true
  return script
}

/** From now on this port throws for what has to do with the stream part. */
function break_(script: CoreScript, port: string, id: StreamPartId = partId): void {
  script.hostile = (name, args) => {
    if (name === port && partOf(name, args) !== other(id)) throw new Error(`${port} is broken`)
  }
}

const repair = (script: CoreScript): void => void (script.hostile = () => {})
const other = (id: StreamPartId): StreamPartId => (id === partId ? otherPartId : partId)

/** Of which stream part an effect is; undefined when it does not say. */
function partOf(port: string, [first, second]: readonly unknown[]): unknown {
  if (port === 'sendControl') return (second as { streamPartId?: StreamPartId }).streamPartId
  if (port === 'gapLost' || port === 'fillFromArchive')
    return (first as { streamPartId: StreamPartId }).streamPartId
  if (port === 'verify') return `${streamId}#${(first as { chain: { partition: number } }).chain.partition}`
  return typeof first === 'string' && first.includes('#') ? first : undefined
}

/** The same event in the other stream part. */
function inOther(event: OverlayEvent): OverlayEvent {
  if (event.type === 'control') {
    return { ...event, packet: { ...event.packet, streamPartId: otherPartId } as typeof event.packet }
  }
  if (event.type === 'instruction') {
    return { ...event, instruction: { ...event.instruction, streamPartId: otherPartId } }
  }
  return 'streamPartId' in event ? { ...event, streamPartId: otherPartId } : event
}

/** What can be done, and the port that is broken meanwhile. */
const cases: Record<string, { port: string; event: (script: CoreScript) => OverlayEvent[] }> = {
  instruction: { port: 'connect', event: () => [instruct(2, 2, 3, 4, 5)] },
  trackerSession: {
    port: 'connect',
    event: () => [{ type: 'trackerSession', streamPartId: partId }, instruct(1, 5)],
  },
  linkOpened: { port: 'sendControl', event: () => [instruct(2, 2, 3, 5), opened(5)] },
  linkFailed: {
    port: 'statusDue',
    event: () => [instruct(2, 2, 3, 5), { type: 'linkFailed', peerId: idOf(5), reason: 'timeout' }],
  },
  linkClosed: { port: 'neighbours', event: () => [closed(4)] },
  'a forged batch': {
    port: 'statusDue',
    event: () => {
      const batch = batchAt([startMs])
      return [
        data(4, { ...batch, signature: new Uint8Array(65), bytes: batch.bytes.map((byte) => byte ^ 1) }),
      ]
    },
  },
  networkBack: {
    port: 'connect',
    event: () => [closed(4), { type: 'networkBack' }],
  },
  'a batch, before it is checked': { port: 'verify', event: () => [data(2, batchAt([startMs]))] },
  'a batch, when it is sent on': { port: 'sendData', event: () => [data(2, batchAt([startMs]))] },
  'a batch, when it is delivered': { port: 'deliver', event: () => [data(2, batchAt([startMs]))] },
  'a duplicate': {
    port: 'duplicate',
    event: () => [data(2, batchAt([startMs])), data(3, batchAt([startMs]))],
  },
  publish: { port: 'sendData', event: () => [publish(batchAt([startMs]))] },
  archived: {
    port: 'accepted',
    event: () => {
      const batch = batchAt([startMs])
      return [{ type: 'archived', batch, packet: packetOf(batch) }]
    },
  },
  publisherResolved: {
    port: 'deliver',
    event: (script) => {
      script.policy = 'unknown'
      script.run(data(2, batchAt([startMs])))
      script.policy = 'allowed'
      const { nodeId: publisherId } = identityOf(7)
      return [{ type: 'publisherResolved', scope: streamId, publisherId, found: true }]
    },
  },
  'reading that ends': {
    port: 'sendControl',
    event: () => [{ ...join, reads: false }, join],
  },
  attach: { port: 'sendControl', event: () => [opened(5), attach(5)] },
  detach: { port: 'neighbours', event: () => [detach(2, 'left')] },
  fetch: { port: 'sendData', event: () => [data(2, batchAt([startMs])), control(2, fetchOf(startMs))] },
  heads: {
    port: 'dropped',
    event: () => [
      control(2, {
        type: 'heads',
        streamPartId: partId,
        heads: Array.from({ length: networkLimits.maxHeadClaims + 1 }, (_, i) => ({
          publisherId: idOf(100 + i),
          messageChainId: 'c',
          ...{ timestamp: startMs + 1, sequenceNumber: 0 },
        })),
      }),
    ],
  },
}

function fetchOf(timestamp: number): Extract<ControlPacket, { type: 'fetch' }> {
  const { nodeId: publisherId } = identityOf(7)
  const upTo = { timestamp, sequenceNumber: 0 }
  const ranges = [{ after: { timestamp: timestamp - 1, sequenceNumber: 0 }, upTo }]
  return { type: 'fetch', requestId: 1, streamPartId: partId, publisherId, messageChainId: 'c', ranges }
}

/** With the neighbours 2 and 3 in both stream parts, and 4 in the one that is hit. */
function inBoth(script = faulty()): CoreScript {
  script.run(join, inOther(join), instruct(1, 2, 3, 4), inOther(instruct(1, 2, 3)))
  script.run(opened(2), opened(3), opened(4), attach(4))
  for (const peer of [2, 3]) script.run(attach(peer), inOther(attach(peer)))
  return script
}

/** Gives neighbours to a stream part that begins anew, as its tracker would. */
function comeBack(script: CoreScript): void {
  script.run({ type: 'trackerSession', streamPartId: partId }, instruct(1, 2, 3), opened(2), opened(3))
  script.run(attach(2), attach(3))
}

let partitions = 0
/** A message of a chain of its own arrives in a stream part, and goes on. */
function expectFlooding(script: CoreScript, partition: number): void {
  const batch = batchAt([script.wallMs], { partition, chainId: `later ${partitions++}` })
  const lines = script.run(data(2, batch))
  expect(lines).toContain('data 3')
  expect(lines.filter((line) => line.startsWith('deliver'))).toEqual([`deliver ${script.wallMs - startMs}`])
}

describe('a fault in the work of a stream part', () => {
  it.each(Object.entries(cases))('ends that work only: %s', (_, { port, event }) => {
    const script = inBoth()
    const events = event(script)
    break_(script, port)
    const lines = script.run(...events)
    repair(script)
    expect(lines).toContain('failed')
    expect(new Set(script.faults.map(({ streamPartId }) => streamPartId))).toEqual(new Set([partId]))
    expect(script.core.counters['fault.streamPart']).toBe(script.faults.length)
    expectFlooding(script, 1)
    expect(script.pass(minFaultRestMs * 64)).toContain('rested')
    comeBack(script)
    expectFlooding(script, 0)
    expectFlooding(script, 1)
  })

  it('is told to feeders as well as to neighbours', () => {
    const script = inBoth()
    const membership = { reads: false, token: undefined }
    script.run(
      opened(9),
      control(9, { type: 'attach', streamPartId: partId, sinceMs: 0, heads: [], membership }),
    )
    break_(script, 'deliver')
    expect(script.run(data(2, batchAt([startMs])))).toEqual(
      expect.arrayContaining(['detach 2 left', 'detach 9 left', 'failed']),
    )
  })

  it('when it is joined', () => {
    const script = faulty()
    break_(script, 'statusDue')
    expect(script.run(join)).toEqual(['failed'])
    repair(script)
    expect(script.pass(minFaultRestMs)).toEqual(['rested'])
    comeBack(script)
    expectFlooding(script, 0)
  })

  it('when it is left: it is left all the same', () => {
    const script = inBoth()
    break_(script, 'sendControl')
    script.run(leave)
    repair(script)
    expect(script.faults).toHaveLength(1)
    expect(script.core.streamParts.ids).toEqual([otherPartId])
    expect(script.pass(maxFaultRestMs)).not.toContain('rested')
    expectFlooding(script, 1)
  })

  it('in a tick: a fetch that cannot be sent', () => {
    const script = inBoth()
    script.pass(2_000)
    const previous = { timestamp: script.wallMs - 1, sequenceNumber: 0 }
    script.run(data(2, batchAt([script.wallMs], { previous })))
    break_(script, 'sendControl')
    const lines = script.pass(networkLimits.maxGapWaitMs)
    expect(lines).toContain('failed')
    // What was looked for is not any more, and nobody waits for it.
    expect(lines).toContain('lost (0,1999]')
    repair(script)
    expectFlooding(script, 1)
    expect(script.pass(minFaultRestMs)).toContain('rested')
    comeBack(script)
    expectFlooding(script, 0)
  })

  it('in a tick: a time that is no number', () => {
    const script = inBoth()
    const part = script.core.streamParts.get(partId)
    if (part !== undefined) part.wakeAtMs = NaN
    script.run({ type: 'tick' })
    expect(script.faults).toHaveLength(1)
    expect(script.core.dueMs).toBeGreaterThan(script.nowMs)
    expectFlooding(script, 1)
  })

  it('outside of the core is treated like one within', () => {
    const script = inBoth()
    const lines = script.run({ type: 'partFault', streamPartId: partId, error: new Error('elsewhere') })
    expect(lines).toEqual([...['detach 2 left', 'detach 3 left', 'detach 4 left', 'neighbours []', 'failed']])
    expectFlooding(script, 1)
  })
})

describe('a stream part after a fault', () => {
  it('has no neighbours while it rests, and takes what this process publishes', () => {
    const script = inBoth()
    script.run({ type: 'partFault', streamPartId: partId, error: new Error('a fault') })
    expect(script.run(attach(2))).toEqual(['detach 2 not-joined'])
    expect(script.run(data(2, batchAt([startMs])))).toEqual(['dropped data.notAttached'])
    expect(script.run(publish(batchAt([startMs])))).toEqual(['deliver 0'])
    expect(script.core.streamParts.ids).toContain(partId)
    // Who comes afterwards is sent it.
    script.pass(minFaultRestMs)
    script.run(instruct(1, 2))
    expect(script.run(attach(2, 5_000))).toContain('data 2')
  })

  it('rests longer each time, and as shortly as ever after a long time without one', () => {
    const script = inBoth()
    const fault = (): number => {
      script.run({ type: 'partFault', streamPartId: partId, error: new Error('a fault') })
      const fromMs = script.nowMs
      while (!script.lines.includes('rested')) script.pass(script.core.dueMs - script.nowMs)
      return script.nowMs - fromMs
    }
    expect([fault(), fault(), fault()]).toEqual([1, 2, 4].map((times) => times * minFaultRestMs))
    for (let i = 0; i < 10; i++) fault()
    expect(fault()).toBe(maxFaultRestMs)
    script.pass(faultForgetMs)
    expect(fault()).toBe(minFaultRestMs)
  })

  it('does not spin where each message is a fault', () => {
    const script = inBoth()
    script.hostile = (port) => {
      if (port === 'verify') throw new Error('each message')
    }
    for (let i = 0; i < 1_000; i++) {
      script.run(data(2, batchAt([script.wallMs], { chainId: `${i}` })))
      if (script.pass(10).includes('rested')) comeBack(script)
    }
    expect(script.faults.length).toBeLessThanOrEqual(5)
  })

  it('delivers nothing twice, and looks for what it missed', () => {
    const script = inBoth()
    const first = batchAt([startMs])
    script.run(data(2, first))
    script.run({ type: 'partFault', streamPartId: partId, error: new Error('a fault') })
    script.pass(minFaultRestMs)
    comeBack(script)
    expect(script.run(data(2, first))).toEqual([])
    const missed: MessageRef = { timestamp: startMs + 500, sequenceNumber: 0 }
    script.run(data(2, batchAt([startMs + 1_000], { previous: missed })))
    expect(script.pass(networkLimits.maxGapWaitMs)[0]).toBe('fetch 2 (0,500]')
  })

  it('knows nothing of before when there was one after the other', () => {
    const script = inBoth()
    const first = batchAt([startMs])
    script.run(data(2, first))
    for (let i = 0; i < 2; i++) {
      script.run({ type: 'partFault', streamPartId: partId, error: new Error('a fault') })
      script.pass(maxFaultRestMs)
    }
    comeBack(script)
    expect(script.run(data(2, first))).toContain('deliver 0')
  })

  it('has given back what it shared: links nobody else uses are closed, and bytes are not counted any more', () => {
    const script = faulty({ maxRecentBytesTotal: 1_000 }).withNeighbours(2)
    script.run(data(2, batchAt([startMs])))
    script.run({ type: 'partFault', streamPartId: partId, error: new Error('a fault') })
    expect(script.core.streamParts.get(partId)?.recent.bytes).toBe(0)
    expect(script.pass(networkLimits.linkLingerMs)).toContain('disconnect 2 UNUSED')
    // 300 bytes of the first batch would leave no room for these.
    script.run(
      publish(batchAt([startMs + 1])),
      publish(batchAt([startMs + 2])),
      publish(batchAt([startMs + 3])),
    )
    expect(script.core.counters['recent.dropped']).toBe(0)
  })

  it('stays joined, as the application wants it now', () => {
    const script = inBoth()
    script.run({ type: 'partFault', streamPartId: partId, error: new Error('a fault') })
    expect(script.run({ ...join, fillGaps: false })).toEqual([])
    expect(script.core.streamParts.get(partId)?.gaps.fillGaps).toBe(false)
    expect(script.run(leave)).toEqual([])
    expect(script.pass(maxFaultRestMs)).not.toContain('rested')
  })
})

/** All ports, each of which may throw in the stream part that is hit. */
const ports = [
  ...['connect', 'sendControl', 'sendData', 'accepted', 'duplicate', 'deliver', 'gapLost', 'fillFromArchive'],
  ...['neighbours', 'statusDue', 'partRested', 'verify', 'partFailed'],
]

const peer = fc.integer({ min: 2, max: 5 })
const anything = fc.oneof(
  fc.record({
    kind: fc.constant('data' as const),
    peer,
    gap: fc.boolean(),
    chain: fc.integer({ min: 0, max: 3 }),
  }),
  fc.record({
    kind: fc.constantFrom('opened' as const, 'closed' as const, 'attach' as const, 'detach' as const),
    peer,
  }),
  fc.record({ kind: fc.constant('instruct' as const), peers: fc.uniqueArray(peer) }),
  fc.record({ kind: fc.constant('pass' as const), ms: fc.integer({ min: 1, max: 2_000 }) }),
  fc.record({ kind: fc.constantFrom('leave' as const, 'join' as const, 'publish' as const) }),
)

describe('whatever throws in one stream part', () => {
  it('the other delivers each message once, and the first does again afterwards', () => {
    const world = fc.record({
      steps: fc.array(anything, { minLength: 5, maxLength: 60 }),
      broken: fc.array(
        fc.record({ port: fc.constantFrom(...ports), after: fc.integer({ min: 0, max: 6 }) }),
        {
          minLength: 1,
          maxLength: 8,
        },
      ),
    })
    fc.assert(
      fc.property(world, ({ steps, broken }) => {
        // The peer 6 is a neighbour in the other stream part only.
        const script = faulty({}, { hasArchive: true })
        script.run(join, inOther(join), inOther(instruct(1, 6, 7)), opened(6), opened(7))
        script.run(inOther(attach(6)), inOther(attach(7)))
        const calls = new Map<string, number>()
        script.hostile = (port, args) => {
          if (partOf(port, args) === otherPartId || args[0] === idOf(6) || args[0] === idOf(7)) return
          // What is said of a stream part that is not joined is between the node and its peer.
          if (script.core.streamParts.get(partId) === undefined) return
          const count = (calls.get(port) ?? 0) + 1
          calls.set(port, count)
          if (broken.some((it) => it.port === port && count % 7 === it.after))
            throw new Error(`${port} ${count}`)
        }
        const lasts = new Map<string, number>()
        let counter = 1
        for (const step of steps) {
          if (step.kind === 'pass') script.pass(step.ms)
          else if (step.kind === 'instruct') script.run(instruct(++counter, ...step.peers))
          else if (step.kind === 'opened') script.run(opened(step.peer))
          else if (step.kind === 'closed') script.run(closed(step.peer))
          else if (step.kind === 'attach') script.run(attach(step.peer))
          else if (step.kind === 'detach') script.run(detach(step.peer, 'left'))
          else if (step.kind === 'data') {
            const chainId = `hit ${step.chain}`
            const last = lasts.get(chainId)
            const previous = last === undefined ? {} : { previous: { timestamp: last, sequenceNumber: 0 } }
            const timestamp = Math.max(script.wallMs, (last ?? 0) + 2)
            if (!step.gap) script.run(data(step.peer, batchAt([timestamp], { chainId, ...previous })))
            lasts.set(chainId, timestamp)
          } else if (step.kind === 'publish') {
            script.run(
              publish(
                batchAt([script.wallMs], { chainId: `own ${script.core.counters['published.batches']}` }),
              ),
            )
          } else script.run(step.kind === 'join' ? join : leave)
          const chainId = `ok ${script.delivered.length}`
          script.run(data(6, batchAt([script.wallMs], { chainId, partition: 1 })))
          expect(script.lines.slice(0, 2)).toEqual(['data 7', `deliver ${script.wallMs - startMs}`])
        }
        expect(script.faults.every(({ streamPartId }) => streamPartId === partId)).toBe(true)
        repair(script)
        script.run(join)
        script.pass(2 * maxFaultRestMs)
        expect(script.core.streamParts.get(partId)?.isResting).toBe(false)
        comeBack(script)
        expectFlooding(script, 0)
      }),
      { numRuns: 300 },
    )
  })
})
