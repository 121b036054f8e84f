import { Duplex } from 'node:stream'
import { seededRandom, toNodeId, type Random } from '@runnel/protocol'
import { systemClock } from '@runnel/protocol/system'
import type { Packet } from 'mqtt-packet'
import { encode } from './codec.ts'
import { Connection } from './connection.ts'
import { MqttProblem, Reason } from './core/reasons.ts'
import { Sessions } from './core/sessions.ts'
import { toRunnel } from './core/to-runnel.ts'
import { filterOf, topicOf } from './core/topics.ts'
import { newCounters } from './counters.ts'
import { mqttLimits } from './limits.ts'

const own = toNodeId(`0x${'a'.repeat(40)}`)
const bytes = (text: string) => Buffer.from(text)

const properties = {
  payloadFormatIndicator: true,
  messageExpiryInterval: 5,
  topicAlias: 3,
  responseTopic: 'replies/x',
  correlationData: bytes('c'),
  userProperties: { unit: 'C', tag: ['a', 'b'] },
  contentType: 'application/json',
}
const will = { topic: 'w', payload: bytes('gone'), qos: 1, retain: true } as const

/** Everything a client may send, and some of what it may not. */
const samples: readonly (readonly [Packet, number])[] = [
  [
    { cmd: 'connect', clientId: 'c', clean: true, keepalive: 9, username: 'u', password: bytes('p'), will },
    4,
  ],
  [
    {
      ...{ cmd: 'connect', protocolVersion: 5, clientId: 'five', clean: false, keepalive: 1 },
      properties: {
        sessionExpiryInterval: 9,
        receiveMaximum: 3,
        maximumPacketSize: 99,
        topicAliasMaximum: 2,
      },
      will: { ...will, properties: { willDelayInterval: 1, userProperties: { a: 'b' } } },
    },
    5,
  ],
  ...([4, 5] as const).flatMap((version): (readonly [Packet, number])[] => [
    [
      { cmd: 'publish', topic: 'a/b', payload: bytes('{"t":21}'), qos: 0, dup: false, retain: false },
      version,
    ],
    [
      { cmd: 'publish', topic: 'a', payload: bytes(''), qos: 1, dup: true, retain: true, messageId: 1 },
      version,
    ],
    [
      { cmd: 'publish', topic: 'a@3', payload: bytes('x'), qos: 2, dup: false, retain: false, messageId: 7 },
      version,
    ],
    [{ cmd: 'puback', messageId: 1 }, version],
    [{ cmd: 'pubrec', messageId: 2 }, version],
    [{ cmd: 'pubrel', messageId: 7 }, version],
    [{ cmd: 'pubcomp', messageId: 7 }, version],
    [
      {
        cmd: 'subscribe',
        messageId: 3,
        subscriptions: [
          { topic: 'a/+/#', qos: 1 },
          { topic: '$share/g/a', qos: 0 },
        ],
      },
      version,
    ],
    [{ cmd: 'unsubscribe', messageId: 4, unsubscriptions: ['a/#', 'b'] }, version],
    [{ cmd: 'pingreq' }, version],
    [{ cmd: 'pingresp' }, version],
    [{ cmd: 'connack', returnCode: 0, reasonCode: 0, sessionPresent: false }, version],
    [{ cmd: 'suback', messageId: 3, granted: [0] }, version],
    [{ cmd: 'disconnect' }, version],
  ]),
  [
    {
      cmd: 'publish',
      topic: 'a',
      payload: bytes('1'),
      qos: 1,
      dup: false,
      retain: false,
      messageId: 5,
      properties,
    },
    5,
  ],
  [
    {
      cmd: 'subscribe',
      messageId: 6,
      subscriptions: [{ topic: '#', qos: 1, nl: true, rap: true, rh: 1 }],
      properties: { subscriptionIdentifier: 300 },
    },
    5,
  ],
  [
    {
      cmd: 'auth',
      reasonCode: 24,
      properties: { authenticationMethod: 'm', authenticationData: bytes('d') },
    },
    5,
  ],
  [{ cmd: 'disconnect', reasonCode: 4, properties: { sessionExpiryInterval: 9, reasonString: 'r' } }, 5],
]
const packets = samples.map(([packet, version]) => encode(packet, version))
const connects = packets.slice(0, 2)

export interface FuzzReport {
  readonly packets: number
  /** Connections that were ended because of what came. */
  readonly refused: number
  /** Connections on which all was taken. */
  readonly open: number
  /** What went wrong, with the seed. */
  readonly faults: readonly string[]
}

/** Sends so many packets with something wrong with most of them, a few to a connection; half of these begin with a good CONNECT. */
export async function fuzz(count: number, seed: string): Promise<FuzzReport> {
  const random = seededRandom(seed)
  const server = newServer()
  let sent = 0
  for (let i = 0; sent < count; i++) {
    const { stream, connection } = server.open()
    const pieces = random.next() < 0.5 ? [pick(connects, random)] : []
    for (let left = 1 + below(6, random); left > 0; left--) pieces.push(mutated(random))
    sent += pieces.length
    const all = Buffer.concat(pieces)
    const at = below(all.length, random)
    stream.push(all.subarray(0, at))
    stream.push(all.subarray(at))
    stream.push(null)
    await new Promise<void>((resolve) => stream.on('close', resolve))
    server.ended(connection, `${seed} ${i}`)
  }
  return { packets: sent, ...server.report() }
}

function newServer() {
  const counters = newCounters()
  const faults: string[] = []
  let failure: unknown
  const sessions = new Sessions(mqttLimits, {
    totals: counters,
    newOrigin: () => 'origin',
    effects: { ended: () => {}, publishWill: () => {}, changed: () => {} },
  })
  const map = (work: () => unknown): number | MqttProblem => {
    try {
      work()
      return Reason.success
    } catch (error) {
      if (error instanceof MqttProblem) return error
      throw error
    }
  }
  const result = { refused: 0, open: 0 }
  return {
    open: () => {
      failure = undefined
      const stream = new Duplex({ read: () => {}, write: (_chunk, _encoding, done) => done() })
      const connection: Connection = new Connection(
        stream,
        { address: 'here', certificateFingerprint: undefined },
        mqttLimits,
        {
          sessions,
          clock: systemClock,
          gateway: {
            authenticate: (from) => {
              from.session = from.conversation.admit({ account: 'a', own, assignedClientId: 'assigned' })
            },
            publish: (_session, message, done) =>
              done(
                map(() => {
                  topicOf(message.topic, own)
                  toRunnel(message, { own, origin: undefined, wallMs: 0 })
                }),
              ),
            subscribe: (_session, requests, done) => {
              const reasons = requests.map(({ filter }) => map(() => filterOf(filter, own)))
              done(
                reasons.map((reason) => (reason instanceof MqttProblem ? reason.reason : reason)),
                undefined,
              )
            },
            unsubscribe: () => false,
            takeRate: () => 0,
            failed: (_from, error) => (failure = error),
            slowed: () => {},
            received: () => {},
            sent: () => {},
            closed: () => {},
          },
        },
      )
      return { stream, connection }
    },
    ended: (connection: Connection, name: string) => {
      if (failure === undefined) result.open++
      else if (failure instanceof MqttProblem) result.refused++
      else faults.push(`${name}: ${String(failure)}`)
      if (!connection.conversation.hasEnded) faults.push(`${name}: it has not ended with its connection`)
    },
    report: () => ({ ...result, faults }),
  }
}

function mutated(random: Random): Buffer {
  let packet: Buffer = Buffer.from(pick(packets, random))
  for (let left = below(4, random); left > 0 && packet.length > 0; left--) {
    const at = below(packet.length, random)
    const [before, after] = [packet.subarray(0, at), packet.subarray(at + below(8, random))]
    switch (below(6, random)) {
      case 0:
        packet[at] = (packet[at] ?? 0) ^ (1 << below(8, random))
        break
      case 1:
        packet[at] = pick([0, 1, 0x7f, 0x80, 0xff], random)
        break
      case 2:
        packet = before
        break
      case 3:
        packet = Buffer.concat([before, after])
        break
      case 4:
        packet = Buffer.concat([before, pick(packets, random), after])
        break
      default:
        packet = Buffer.concat([before, random.bytes(below(8, random)), packet.subarray(at)])
    }
    // Mostly with a length that is right, or it would be cut where it means nothing.
    if (random.next() < 0.8 && packet.length > 2 && packet.length < 130) packet[1] = packet.length - 2
  }
  return packet
}

function pick<T>(items: readonly T[], random: Random): T {
  return items[below(items.length, random)] as T
}

function below(end: number, random: Random): number {
  return Math.floor(random.next() * end)
}
