import { once } from 'node:events'
import { Duplex } from 'node:stream'
import { toNodeId, type Clock } from '@runnel/protocol'
import { systemClock } from '@runnel/protocol/system'
import { VirtualClock } from '@runnel/transport'
import type { Packet } from 'mqtt-packet'
import { expect, it } from 'vitest'
import { encode } from './codec.ts'
import { Connection } from './connection.ts'
import { Sessions } from './core/sessions.ts'
import { newCounters } from './counters.ts'
import { mqttLimits } from './limits.ts'

/** A connection whose client takes what it is sent when it is told to. */
function open({ clock = systemClock, takeRate = () => 0 }: { clock?: Clock; takeRate?: () => number } = {}) {
  const taken: Buffer[] = []
  const sessions = new Sessions(mqttLimits, {
    totals: newCounters(),
    newOrigin: () => 'origin',
    effects: { ended: () => {}, publishWill: () => {}, changed: () => {} },
  })
  let take: (() => void) | undefined
  let isReading = false
  const stream = new Duplex({
    read: () => {},
    writev: (chunks, done) => {
      take = () => {
        taken.push(...chunks.map(({ chunk }) => chunk as Buffer))
        done()
      }
      if (isReading) take()
    },
  })
  const seen = { slowed: 0, rated: 0, failed: 0, published: [] as string[] }
  const connection: Connection = new Connection(
    stream,
    { address: 'here', certificateFingerprint: undefined },
    mqttLimits,
    {
      sessions,
      clock,
      gateway: {
        authenticate: ({ conversation }) => {
          const own = toNodeId(`0x${'a'.repeat(40)}`)
          connection.session = conversation.admit({ account: 'a', own, assignedClientId: 'assigned' })
        },
        publish: (_session, { payload }, done) => {
          seen.published.push(payload.toString())
          done(0)
        },
        subscribe: (_session, requests, done) =>
          done(
            requests.map(() => 0),
            undefined,
          ),
        unsubscribe: () => false,
        takeRate: () => {
          seen.rated++
          return takeRate()
        },
        slowed: () => seen.slowed++,
        failed: () => seen.failed++,
        received: () => {},
        sent: () => {},
        closed: () => {},
      },
    },
  )
  const read = () => {
    isReading = true
    take?.()
  }
  return { connection, stream, taken, seen, read }
}

it('reads a client no further that does not read its answers, and goes on where it does', async () => {
  const { stream, taken, seen, read } = open()
  const connect = encode({ cmd: 'connect', clientId: 'c', clean: true }, 4)
  const asked = 3 * mqttLimits.maxUnwrittenAnswers
  const pings = Array.from({ length: asked }, () => encode({ cmd: 'pingreq' }, 4))
  stream.push(Buffer.concat([connect, ...pings]))
  await new Promise<void>((resolve) => setImmediate(resolve))
  // CONNACK has four bytes, and each PINGRESP two.
  expect(stream.writableLength).toBe(4 + 2 * (mqttLimits.maxUnwrittenAnswers - 1))
  expect(seen.slowed).toBeGreaterThan(0)
  expect(stream.isPaused()).toBe(true)
  read()
  await expect.poll(() => taken.length).toBe(1 + asked)
  expect(stream.isPaused()).toBe(false)
})

it('takes what costs the gateway more than an answer from the rate of the key', async () => {
  const { stream, taken, seen, read } = open()
  read()
  const packets: readonly Packet[] = [
    { cmd: 'connect', clientId: 'c', clean: true },
    { cmd: 'pingreq' },
    { cmd: 'publish', topic: 't', payload: 'x', qos: 0, dup: false, retain: false },
    { cmd: 'subscribe', messageId: 1, subscriptions: [{ topic: 't', qos: 0 }] },
    { cmd: 'unsubscribe', messageId: 2, unsubscriptions: ['t'] },
  ]
  stream.push(Buffer.concat(packets.map((packet) => encode(packet, 4))))
  await expect.poll(() => taken.length).toBe(4)
  expect(seen.rated).toBe(3)
})

it('handles what a client sent before it left, however long its rate makes that wait', async () => {
  const clock = new VirtualClock()
  let waitMs = 60_000
  const { connection, stream, seen, read } = open({ clock, takeRate: () => waitMs })
  read()
  const publish = (payload: string) =>
    encode({ cmd: 'publish', topic: 't', payload, qos: 0, dup: false, retain: false }, 4)
  const connect = encode({ cmd: 'connect', clientId: 'c', clean: true, keepalive: 1 }, 4)
  stream.push(Buffer.concat([connect, publish('a'), publish('b'), encode({ cmd: 'disconnect' }, 4)]))
  await new Promise<void>((resolve) => setImmediate(resolve))
  // Like a socket whose other side is closed.
  stream.push(null)
  stream.read(0)
  await once(stream, 'end')
  clock.advanceBy(30_000)
  connection.tick(clock.monotonicMs())
  expect([stream.writableEnded, seen.published]).toEqual([false, []])
  waitMs = 0
  clock.advanceBy(30_000)
  expect([stream.writableEnded, seen.published]).toEqual([true, ['a', 'b']])
})

const publishTo = (messageId: number) =>
  encode(
    { cmd: 'publish', topic: 't', payload: `${messageId}`, messageId, qos: 1, dup: false, retain: false },
    4,
  )

it('answers the pings of a client whose messages wait for its rate, and acknowledges these in their order', async () => {
  const clock = new VirtualClock()
  let waitMs = 60_000
  const { stream, taken, seen, read } = open({ clock, takeRate: () => waitMs })
  read()
  const connect = encode({ cmd: 'connect', clientId: 'c', clean: true }, 4)
  const ping = encode({ cmd: 'pingreq' }, 4)
  const push = async (...packets: Buffer[]) => {
    stream.push(Buffer.concat(packets))
    await new Promise<void>((resolve) => setImmediate(resolve))
    clock.advanceBy(0)
  }
  await push(connect, publishTo(1), ping, publishTo(2))
  await push(ping)
  expect([taken.length, seen.published]).toEqual([3, []])
  waitMs = 0
  clock.advanceBy(60_000)
  const acknowledged = [1, 2].map((messageId) => encode({ cmd: 'puback', messageId }, 4))
  expect(taken.slice(1)).toEqual([...Array<Buffer>(2).fill(encode({ cmd: 'pingresp' }, 4)), ...acknowledged])
})

it('reads only so far beyond a message that waits for its rate', async () => {
  const clock = new VirtualClock()
  const { stream, read } = open({ clock, takeRate: () => 60_000 })
  read()
  stream.push(encode({ cmd: 'connect', clientId: 'c', clean: true }, 4))
  for (let i = 1; i < mqttLimits.maxWaitingPackets; i++) stream.push(publishTo(i))
  await expect.poll(() => stream.readableLength).toBe(0)
  expect(stream.isPaused()).toBe(false)
  stream.push(publishTo(mqttLimits.maxWaitingPackets))
  await expect.poll(() => stream.isPaused()).toBe(true)
})

it('takes nothing of a packet that is too long for packets of its own', async () => {
  const { stream, seen, read } = open()
  read()
  stream.push(encode({ cmd: 'connect', clientId: 'c', clean: true }, 4))
  stream.push(Buffer.from([0x30, 0xff, 0xff, 0xff, 0x7f]))
  await new Promise<void>((resolve) => setImmediate(resolve))
  // As packets they would be malformed.
  stream.push(Buffer.alloc(500, 'y'))
  stream.push(null)
  await once(stream, 'close')
  expect(seen).toMatchObject({ failed: 1, published: [] })
})
