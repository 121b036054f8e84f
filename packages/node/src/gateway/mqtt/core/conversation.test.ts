import { toNodeId } from '@runnel/protocol'
import type { IConnectPacket, IPublishPacket, Packet } from 'mqtt-packet'
import { describe, expect, it } from 'vitest'
import { mqttLimits } from '../limits.ts'
import { Conversation, type ConversationEffects } from './conversation.ts'
import { MqttProblem, Reason } from './reasons.ts'
import type { SessionSubscription, SubscriptionOptions } from './session.ts'
import { Sessions } from './sessions.ts'
import type { Delivery } from './to-mqtt.ts'
import { filterOf } from './topics.ts'

const own = toNodeId(`0x${'a'.repeat(40)}`)
type Publishing = Parameters<ConversationEffects['publish']>

/** A server with conversations whose effects are written down. */
class World {
  nowMs = 0
  readonly wills: string[] = []
  readonly sessions = new Sessions(mqttLimits, {
    totals: { queuedBytes: 0, droppedQos0: 0, droppedQos1: 0, expired: 0 },
    newOrigin: () => 'origin',
    effects: { ended: () => {}, publishWill: ({ key }) => this.wills.push(key.clientId), changed: () => {} },
  })

  open() {
    const sent: Packet[] = []
    const publishing: Publishing[] = []
    const subscribing: (() => void)[] = []
    const wanted: SubscriptionOptions[] = []
    const seen = { ended: false, isWritable: true, isSlow: false, maxBytes: 0 }
    const conversation = new Conversation(mqttLimits, {
      sessions: this.sessions,
      time: () => ({ nowMs: this.nowMs, wallMs: this.nowMs }),
      effects: {
        send: (packet, maxBytes) => {
          seen.maxBytes = maxBytes
          if (packet.cmd === 'publish' && packet.payload.length > maxBytes) return false
          sent.push(packet)
          return true
        },
        get isWritable() {
          return seen.isWritable
        },
        end: () => (seen.ended = true),
        authenticate: () => {},
        publish: (...args) => publishing.push(args),
        subscribe: (_session, requests, done) => {
          wanted.push(...requests.map(({ options }) => options))
          const refuse = () =>
            done(
              requests.map(() => Reason.notAuthorized),
              'not for you',
            )
          if (seen.isSlow) subscribing.push(refuse)
          else refuse()
        },
        unsubscribe: (_session, filter) => filter === 'there',
      },
    })
    const connect = (more: Partial<IConnectPacket> = {}) => {
      conversation.receive({
        cmd: 'connect',
        clientId: 'c',
        protocolVersion: 5,
        clean: true,
        keepalive: 0,
        ...more,
      })
      return conversation.admit({ account: 'a', own, assignedClientId: 'assigned' })
    }
    const publish = (qos: 0 | 1 | 2, messageId: number) =>
      conversation.receive({
        cmd: 'publish',
        topic: 't',
        payload: Buffer.from('x'),
        dup: false,
        retain: false,
        qos,
        messageId,
      })
    const done = (at: number, result: number | MqttProblem = Reason.success) => publishing[at]?.[2](result)
    const taken = () => sent.splice(0)
    return { conversation, seen, publishing, subscribing, wanted, connect, publish, done, taken }
  }
}

function problem(reason: number): MqttProblem {
  return expect.objectContaining({ reason }) as MqttProblem
}

describe('a conversation', () => {
  it('begins with CONNECT, once', () => {
    const { conversation, connect } = new World().open()
    expect(() => conversation.receive({ cmd: 'pingreq' })).toThrow(problem(Reason.protocolError))
    connect()
    expect(() => connect()).toThrow(problem(Reason.protocolError))
  })

  it('says what it can, and gives a client an id and no longer a session than there is', () => {
    const { connect, taken } = new World().open()
    connect({ clientId: '', properties: { sessionExpiryInterval: 0xffff_ffff } })
    expect(taken()).toMatchObject([
      {
        ...{ cmd: 'connack', reasonCode: 0, sessionPresent: false },
        properties: {
          assignedClientIdentifier: 'assigned',
          sessionExpiryInterval: mqttLimits.maxSessionExpiryS,
        },
      },
    ])
  })

  it.each([
    [{ protocolVersion: 4, clientId: '', clean: false }, { returnCode: 2 }],
    [{ properties: { authenticationMethod: 'SCRAM' } }, { reasonCode: Reason.badMethod }],
    [{ properties: { receiveMaximum: 0 } }, { reasonCode: Reason.protocolError }],
  ] as const)('refuses %o', (connect, answer) => {
    const world = new World().open()
    expect(world.connect(connect as Partial<IConnectPacket>)).toBeUndefined()
    expect(world.taken()).toMatchObject([{ cmd: 'connack', ...answer }])
    expect(world.seen.ended).toBe(true)
  })

  it('acknowledges in the order of the messages, whichever is published first', () => {
    const { connect, publish, done, taken } = new World().open()
    connect()
    publish(1, 1)
    publish(1, 2)
    taken()
    done(1)
    expect(taken()).toEqual([])
    done(0, new MqttProblem(Reason.notAuthorized, 'not yours'))
    expect(taken()).toMatchObject([
      {
        cmd: 'puback',
        messageId: 1,
        reasonCode: Reason.notAuthorized,
        properties: { reasonString: 'not yours' },
      },
      { cmd: 'puback', messageId: 2, reasonCode: 0 },
    ])
  })

  it('gives no reasons where they are not wanted', () => {
    const { connect, publish, done, taken } = new World().open()
    connect({ properties: { requestProblemInformation: false } })
    publish(1, 1)
    taken()
    done(0, new MqttProblem(Reason.notAuthorized, 'not yours'))
    expect(taken()).toEqual([{ cmd: 'puback', messageId: 1, reasonCode: Reason.notAuthorized }])
  })

  it('publishes a message of QoS 2 once, however often it comes before it is released', () => {
    const { connect, publish, done, taken, publishing, conversation } = new World().open()
    connect()
    taken()
    publish(2, 7)
    done(0)
    publish(2, 7)
    conversation.receive({ cmd: 'pubrel', messageId: 7 })
    expect(publishing).toHaveLength(1)
    expect(taken().map(({ cmd }) => cmd)).toEqual(['pubrec', 'pubrec', 'pubcomp'])
    publish(2, 7)
    expect(publishing).toHaveLength(2)
  })

  it('answers a message of QoS 2 that comes again over another connection once it is known whether it is published', () => {
    const world = new World()
    const kept = { clean: false, properties: { sessionExpiryInterval: 60 } }
    const first = world.open()
    const session = first.connect(kept)
    for (const id of [1, 2]) first.publish(2, id)
    first.publish(2, 1)
    first.conversation.closed(0)
    const second = world.open()
    second.connect(kept)
    second.taken()
    for (const id of [1, 2, 1]) second.publish(2, id)
    expect([second.taken(), second.publishing, [...(session?.received ?? [])]]).toEqual([[], [], []])
    first.done(1)
    first.done(0, new MqttProblem(Reason.unspecified, 'not stored'))
    expect(second.taken()).toMatchObject([
      { cmd: 'pubrec', messageId: 1, reasonCode: Reason.unspecified },
      { cmd: 'pubrec', messageId: 2, reasonCode: 0 },
    ])
    expect([...(session?.received ?? [])]).toEqual([2])
    second.publish(2, 1)
    expect([first.publishing.length, second.publishing.length]).toEqual([2, 1])
  })

  it('takes no more messages of QoS 2 than it said, published or not, whichever version its client speaks', () => {
    for (const protocolVersion of [4, 5] as const) {
      const { connect, publish, done } = new World().open()
      const session = connect({ protocolVersion })
      for (let id = 1; id <= mqttLimits.receiveMaximum; id++) publish(2, id)
      for (let at = 0; at < 100; at++) done(at)
      expect(() => publish(2, 999)).toThrow(problem(Reason.receiveMaximum))
      expect((session?.received.size ?? 0) + (session?.taking.size ?? 0)).toBe(mqttLimits.receiveMaximum)
    }
  })

  it('makes a client of 3.1.1 wait, which knows no Receive Maximum', () => {
    const { connect, publish, conversation } = new World().open()
    connect({ protocolVersion: 4 })
    for (let id = 1; id <= mqttLimits.maxPublishing; id++) {
      expect(conversation.isBusy).toBe(false)
      publish(1, id)
    }
    expect(conversation.isBusy).toBe(true)
  })

  it('leaves a will unless its client disconnects for no reason', () => {
    const world = new World()
    for (const reasonCode of [undefined, 0, 4, 0x80]) {
      const { connect, conversation } = world.open()
      connect({ clientId: `${reasonCode}`, will: { topic: 'w', payload: Buffer.from('gone') } })
      conversation.receive({ cmd: 'disconnect', ...(reasonCode === undefined ? {} : { reasonCode }) })
      conversation.closed(0)
    }
    expect(world.wills).toEqual(['4', '128'])
  })

  it('leaves no will of a client that said goodbye and is back before its connection is closed', () => {
    for (const sessionExpiryInterval of [0, 60]) {
      const world = new World()
      const will = { topic: 'w', payload: Buffer.from('gone'), properties: { willDelayInterval: 0 } }
      const more = { clean: false, will, properties: { sessionExpiryInterval } }
      const first = world.open()
      first.connect(more)
      first.conversation.receive({ cmd: 'disconnect', reasonCode: 0 })
      world.open().connect(more)
      first.conversation.closed(0)
      expect(world.wills).toEqual([])
    }
  })

  it('writes a session when it unsubscribes from what there was', () => {
    const { connect, conversation } = new World().open()
    const session = connect()
    let written = 0
    const journal = { touched: () => {}, changed: () => {}, removed: () => {}, flush: () => written++ }
    session?.keepIn(journal)
    for (const filter of ['none', 'there'])
      conversation.receive({ cmd: 'unsubscribe', messageId: 1, unsubscriptions: [filter] })
    expect(written).toBe(1)
  })

  it('ends with 3.1.1 where it could only acknowledge what was not published', () => {
    const { connect, publish, done, seen, taken } = new World().open()
    connect({ protocolVersion: 4 })
    taken()
    publish(1, 1)
    done(0, new MqttProblem(Reason.notAuthorized, 'not yours'))
    expect(taken()).toEqual([])
    expect(seen.ended).toBe(true)
  })

  it('takes no more unacknowledged messages than it said, and is busy with as many as it publishes', () => {
    const { connect, publish, conversation } = new World().open()
    connect()
    for (let id = 1; id <= mqttLimits.receiveMaximum; id++) publish(1, id)
    expect(() => publish(1, 999)).toThrow(problem(Reason.receiveMaximum))
    for (let i = mqttLimits.receiveMaximum; i < mqttLimits.maxPublishing; i++) publish(0, 0)
    expect(conversation.isBusy).toBe(true)
  })

  it('is busy with as many SUBSCRIBE packets as may be under way', () => {
    const { connect, conversation, seen, subscribing } = new World().open()
    connect()
    seen.isSlow = true
    for (let messageId = 1; messageId <= mqttLimits.maxSubscribing; messageId++) {
      expect(conversation.isBusy).toBe(false)
      conversation.receive({ cmd: 'subscribe', messageId, subscriptions: [{ topic: 't', qos: 0 }] })
    }
    expect(conversation.isBusy).toBe(true)
    subscribing[0]?.()
    expect(conversation.isBusy).toBe(false)
  })

  it('gives a bridge of 3.1.1 none of its own messages, and others as they were retained', () => {
    for (const bridgeMode of [true, false]) {
      const { connect, conversation, wanted } = new World().open()
      connect({ protocolVersion: 4, ...(bridgeMode ? { bridgeMode } : {}) })
      conversation.receive({ cmd: 'subscribe', messageId: 3, subscriptions: [{ topic: 'a', qos: 1 }] })
      expect(wanted).toMatchObject([{ noLocal: bridgeMode, retainAsPublished: bridgeMode }])
    }
  })

  it('says 0x80 to 3.1.1 where a subscription is refused', () => {
    for (const [protocolVersion, granted] of [
      [4, 0x80],
      [5, Reason.notAuthorized],
    ] as const) {
      const { connect, taken, conversation } = new World().open()
      connect({ protocolVersion })
      taken()
      conversation.receive({ cmd: 'subscribe', messageId: 3, subscriptions: [{ topic: 'a', qos: 1 }] })
      expect(taken()).toMatchObject([{ cmd: 'suback', messageId: 3, granted: [granted] }])
    }
  })

  it('ends when nothing is heard for 1.5 times the keep alive, or no CONNECT comes', () => {
    const world = new World()
    const [silent, mute] = [world.open(), world.open()]
    silent.connect({ keepalive: 10 })
    silent.taken()
    silent.conversation.tick(15_000)
    mute.conversation.tick(mqttLimits.connectTimeoutMs)
    expect([silent.seen.ended, mute.seen.ended]).toEqual([false, false])
    silent.conversation.tick(15_001)
    mute.conversation.tick(mqttLimits.connectTimeoutMs + 1)
    expect([silent.seen.ended, mute.seen.ended]).toEqual([true, true])
    expect(silent.taken()).toMatchObject([{ cmd: 'disconnect', reasonCode: Reason.keepAliveTimeout }])
  })

  it('sends what comes for its client as far as that reads, in packets as long as it takes', () => {
    const { connect, conversation, seen, taken } = new World().open()
    const session = connect({ properties: { maximumPacketSize: 10 } })
    if (session === undefined) throw new Error('no session')
    const options = {
      qos: 1,
      noLocal: false,
      retainAsPublished: false,
      retainHandling: 0,
      subscriptionId: 3,
    } as const
    const subscription: SessionSubscription = {
      session,
      name: 't',
      filter: filterOf('t', own),
      options,
      sinceMs: 0,
    }
    const deliver = (payload: string) =>
      session.deliver(
        { streamId: `${own}/t`, partition: 0, payload: Buffer.from(payload), qos: 1 } as Delivery,
        subscription,
      )
    taken()
    deliver('far too long for it')
    seen.isWritable = false
    deliver('short')
    expect(taken()).toEqual([])
    seen.isWritable = true
    conversation.wake()
    const [packet] = taken() as [IPublishPacket]
    expect(packet).toMatchObject({ topic: 't', messageId: 2, properties: { subscriptionIdentifier: 3 } })
    expect(session.outbox.inflight).toBe(1)
  })
})
