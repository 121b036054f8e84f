import type {
  IConnectPacket,
  IPublishPacket,
  ISubscribePacket,
  IUnsubscribePacket,
  Packet,
} from 'mqtt-packet'
import type { MqttLimits } from '../limits.ts'
import { MqttProblem, Reason } from './reasons.ts'

/** What the gateway takes from a client: the rest is for servers to send. */
const fromClients: ReadonlySet<Packet['cmd']> = new Set([
  ...(['connect', 'publish', 'puback', 'pubrec', 'pubrel', 'pubcomp'] as const),
  ...(['subscribe', 'unsubscribe', 'pingreq', 'disconnect', 'auth'] as const),
])

/** Checks what the decoder takes as it comes. Throws MqttProblem. */
export function checkPacket(packet: Packet, limits: MqttLimits): void {
  if (!fromClients.has(packet.cmd))
    throw new MqttProblem(Reason.protocolError, `${packet.cmd} is for servers`)
  if ('properties' in packet && packet.properties !== undefined) checkProperties(packet.properties)
  switch (packet.cmd) {
    case 'connect':
      return checkConnect(packet, limits)
    case 'publish':
      return checkPublish(packet, limits)
    case 'subscribe':
      return checkSubscribe(packet, limits)
    case 'unsubscribe':
      return checkUnsubscribe(packet, limits)
    case 'puback':
    case 'pubrec':
    case 'pubrel':
    case 'pubcomp':
      return checkMessageId(packet.messageId)
    default:
  }
}

function checkConnect(
  { clientId, will, keepalive = 0, username, password }: IConnectPacket,
  limits: MqttLimits,
): void {
  checkText(clientId, limits.maxClientIdBytes, 'a client id')
  if (keepalive < 0) throw malformed('no keep alive')
  if (username !== undefined) checkText(username, limits.maxClientIdBytes, 'a user name')
  if (password !== undefined && !Buffer.isBuffer(password)) throw malformed('a password that is cut short')
  if (will === undefined) return
  checkText(will.topic, limits.maxTopicBytes, 'the topic of a will')
  if ((will.qos ?? 0) > 2) throw malformed('a will of QoS 3')
  if (will.properties !== undefined) checkProperties(will.properties)
}

function checkPublish({ topic, qos, messageId, payload, dup }: IPublishPacket, limits: MqttLimits): void {
  checkText(topic, limits.maxTopicBytes, 'a topic')
  if (/[+#]/.test(topic)) throw new MqttProblem(Reason.topicInvalid, 'a topic has no wildcards')
  if (!Buffer.isBuffer(payload)) throw malformed('a payload that is cut short')
  if (qos > 0) checkMessageId(messageId)
  else if (dup) throw malformed('DUP on a message of QoS 0')
}

function checkSubscribe(
  { subscriptions, messageId, properties }: ISubscribePacket,
  limits: MqttLimits,
): void {
  checkMessageId(messageId)
  checkCount(subscriptions.length, limits)
  for (const { topic } of subscriptions) checkText(topic, limits.maxTopicBytes, 'a filter')
  if (properties?.subscriptionIdentifier === 0)
    throw new MqttProblem(Reason.protocolError, 'a subscription identifier of 0')
}

function checkUnsubscribe({ unsubscriptions, messageId }: IUnsubscribePacket, limits: MqttLimits): void {
  checkMessageId(messageId)
  checkCount(unsubscriptions.length, limits)
  for (const topic of unsubscriptions) checkText(topic, limits.maxTopicBytes, 'a filter')
}

function checkCount(filters: number, { maxFiltersPerPacket }: MqttLimits): void {
  if (filters === 0) throw new MqttProblem(Reason.protocolError, 'no filters')
  if (filters > maxFiltersPerPacket)
    throw new MqttProblem(
      Reason.implementation,
      `${filters} filters in one packet, at most ${maxFiltersPerPacket}`,
    )
}

function checkMessageId(id: number | undefined): void {
  if (id === undefined || id < 1) throw malformed('no packet identifier')
}

/**
 * Each at most once, but for user properties; with values of its kind. The decoder gives null, -1, false or undefined for what is cut
 * short, and a list for what comes twice.
 */
function checkProperties(properties: object): void {
  for (const [name, value] of Object.entries(properties) as [string, unknown][]) {
    if (name === 'userProperties') {
      for (const [key, values] of Object.entries(value as Record<string, unknown>))
        for (const text of [key, values].flat()) checkString(text)
      continue
    }
    if (value === null || value === undefined || value === -1) throw malformed(`no value of ${name}`)
    if (Array.isArray(value)) throw new MqttProblem(Reason.protocolError, `${name} twice`)
    if (typeof value === 'string') checkString(value)
  }
}

function checkText(text: unknown, maxBytes: number, what: string): void {
  checkString(text)
  const { length } = Buffer.from(text as string)
  if (length > maxBytes)
    throw new MqttProblem(Reason.implementation, `${what} of ${length} bytes, at most ${maxBytes}`)
}

/** Well-formed UTF-8 without NUL (section 1.5.4). What is not UTF-8 the decoder reads as U+FFFD, which nobody writes. */
function checkString(text: unknown): void {
  if (typeof text !== 'string') throw malformed('a text that is cut short')
  if (/[\0\uFFFD]/.test(text)) throw malformed('a text that is not UTF-8, or has a NUL')
}

function malformed(text: string): MqttProblem {
  return new MqttProblem(Reason.malformed, text)
}
