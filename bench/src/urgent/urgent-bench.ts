import { packetBytes, PacketType, readUrgentParts } from '@runnel/protocol'
import { systemClock } from '@runnel/protocol/system'
import type { Connection } from '@runnel/transport'
import { setTimeout as pause } from 'node:timers/promises'
import { beginPhase, showProgress } from '../phase.ts'
import { benchError } from '../errors.ts'
import { within } from '../settling.ts'
import { percentile, round } from '../statistics.ts'
import type { LineOptions } from './line.ts'
import { shapedPair } from './shaped-pair.ts'

export interface UrgentBenchOptions extends LineOptions {
  readonly transport: 'webrtc' | 'websocket'
  /** Of each of the two runs. */
  readonly messages: number
  readonly limitS: number
}

/** As of a voice: 50 messages a second of 160 bytes. */
const everyMs = 20
const messageBytes = 160
const lifetimeMs = 2_000
const bulkBytes = 8 * 1024
/** A packet type of the owner, with which nothing here is done but to count. */
const bulkType = PacketType.resendData

interface Run {
  readonly delaysMs: readonly number[]
  readonly bulkKbitPerS: number
}

/**
 * How long small messages take on a slow line on which as much else is sent as it takes: as ordinary packets, and as urgent ones. One link
 * each, of the same kind, one after the other.
 */
export async function urgentBench({ transport, messages, limitS, ...line }: UrgentBenchOptions) {
  const run = async () => {
    beginPhase('ordinary messages')
    const ordinary = await measure(transport, line, messages, sendOrdinary)
    beginPhase('urgent messages')
    const urgent = await measure(transport, line, messages, sendUrgent)
    const [of, beside] = [report(urgent, messages), report(ordinary, messages)]
    const ratio = { p50: round(of.p50Ms / beside.p50Ms), p95: round(of.p95Ms / beside.p95Ms) }
    const bulk = round(of.bulkKbitPerS / beside.bulkKbitPerS)
    return { urgent: of, ordinary: beside, urgentToOrdinary: { ...ratio, bulk } }
  }
  return { bench: 'urgent', transport, ...line, messages, ...(await within(limitS * 1000, 'sending', run())) }
}

const report = ({ delaysMs, bulkKbitPerS }: Run, messages: number) => ({
  p50Ms: round(percentile(delaysMs, 0.5)),
  p95Ms: round(percentile(delaysMs, 0.95)),
  maxMs: round(Math.max(...delaysMs)),
  arrived: round(delaysMs.length / messages),
  bulkKbitPerS: round(bulkKbitPerS),
})

type Send = (connection: Connection, body: Uint8Array, number: number) => void

const sendOrdinary: Send = (connection, body) => connection.send(packetBytes(PacketType.urgent, body))

const sendUrgent: Send = (connection, body, group) =>
  connection.sendUrgent({
    // Behind what is left of its time, which the link writes.
    batchBytes: body.subarray(2),
    headerBytes: 0,
    deadlineMs: systemClock.monotonicMs() + lifetimeMs,
    ...{ publisher: 'p', chain: 'p', priority: 0, group, object: 0, order: 'oldest' },
  })

async function measure(
  transport: UrgentBenchOptions['transport'],
  line: LineOptions,
  messages: number,
  send: Send,
): Promise<Run> {
  const pair = await shapedPair(transport, line)
  try {
    const delaysMs: number[] = []
    showProgress(() => `${delaysMs.length} of ${messages} arrived`)
    let [bulkSent, bulkTaken] = [0, 0]
    const { promise: closed, resolve: end } = Promise.withResolvers<string>()
    pair.b.events = {
      onPacket: (type, body) => {
        if (type === PacketType.urgent) delaysMs.push(performance.now() - sentMsOf(body))
        else if (numberOf(body) !== bulkTaken++) throw new Error('bulk out of order')
      },
      onDrain: () => {},
      onClose: ({ code, text }) => end(`${code} ${text}`),
    }
    const fill = (): void => {
      while (pair.a.writable && pair.a.send(packetBytes(bulkType, numbered(bulkSent)))) bulkSent++
    }
    pair.a.events = { onPacket: () => {}, onDrain: fill, onClose: () => {} }
    fill()
    const startMs = performance.now()
    for (let number = 0; number < messages; number++) {
      send(pair.a, timed(), number)
      const ended = await Promise.race([closed, pause(everyMs)])
      if (ended !== undefined) throw benchError('INCOMPLETE', `the link closed: ${ended}`)
    }
    // What is under way still comes: an ordinary one after all that was sent before it.
    const enough = messages * (1 - line.lossRate)
    const lastMs = performance.now() + (send === sendUrgent ? lifetimeMs : Infinity)
    while (delaysMs.length < messages && performance.now() < lastMs) await pause(everyMs)
    const bulkKbitPerS = (bulkTaken * bulkBytes * 8) / (performance.now() - startMs)
    if (delaysMs.length < enough / 2) throw benchError('INCOMPLETE', `only ${delaysMs.length} messages came`)
    return { delaysMs, bulkKbitPerS }
  } finally {
    await pair.close()
  }
}

/** One byte for what is left of its time, one for that it has no alias, then when it was sent. */
function timed(): Uint8Array {
  const body = new Uint8Array(messageBytes)
  new DataView(body.buffer).setFloat64(2, performance.now())
  return body
}

function sentMsOf(body: Uint8Array): number {
  const { bytes } = readUrgentParts(body)
  return new DataView(bytes.buffer, bytes.byteOffset).getFloat64(0)
}

function numbered(number: number): Uint8Array {
  const body = new Uint8Array(bulkBytes)
  new DataView(body.buffer).setUint32(0, number)
  return body
}

const numberOf = (body: Uint8Array): number => new DataView(body.buffer, body.byteOffset).getUint32(0)
