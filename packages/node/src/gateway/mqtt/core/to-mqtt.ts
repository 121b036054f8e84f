import type { Message } from '@runnel/client'
import type { UserProperties } from 'mqtt-packet'
import { headerNames, isReserved, retainedKey } from './header-names.ts'
import type { MessageProperties } from './to-runnel.ts'
import { topicFor, type TopicForm } from './topics.ts'

/** A message of a stream on its way to the clients of a gateway. */
export interface Delivery {
  readonly streamId: string
  readonly partition: number
  readonly payload: Buffer
  /** As it was published over MQTT; else 1. */
  readonly qos: 0 | 1 | 2
  /** It was published with RETAIN, or its key says so. */
  readonly isRetained: boolean
  readonly origin: string | undefined
  /** Unix milliseconds after which it is dropped; undefined where it is kept. */
  readonly expiresMs: number | undefined
  readonly properties: MessageProperties | undefined
  /** As it was published: owner and path where it is a stream. */
  readonly responseTopic: string | undefined
}

/** Of a message that was subscribed to with its content as bytes. */
export function toDelivery(message: Message): Delivery {
  const { streamId, partition, content, headers, key, isRemoval } = message
  const payload = isRemoval ? Buffer.alloc(0) : bufferOf(content)
  const common = { streamId, partition, payload, isRetained: key === retainedKey }
  const names = Object.keys(headers)
  if (names.length === 0) return { ...common, ...plain }
  return {
    ...common,
    qos: qosIn(headers[headerNames.qos]),
    origin: headers[headerNames.origin],
    expiresMs: millisecondsIn(headers[headerNames.expires]),
    properties: propertiesIn(headers, names),
    responseTopic: responseTopicIn(headers[headerNames.responseTopic]),
  }
}

/** What one subscriber is shown of it, at this moment. */
export function publishOf(
  { properties, responseTopic, expiresMs, streamId, partition }: Delivery,
  form: TopicForm,
  wallMs: number,
): { topic: string; properties: MessageProperties | undefined } {
  const topic = topicFor(form, streamId, partition)
  if (responseTopic === undefined && expiresMs === undefined) return { topic, properties }
  const isOfOwner = responseTopic?.startsWith(streamId.slice(0, 43)) === true
  return {
    topic,
    properties: {
      ...properties,
      ...(responseTopic === undefined
        ? {}
        : { responseTopic: isOfOwner ? form.shown + responseTopic.slice(43) : responseTopic }),
      ...(expiresMs === undefined ? {} : { messageExpiryInterval: expiryOf(expiresMs - wallMs) }),
    },
  }
}

/** Whole seconds, of which a message that is delivered has one at least; as many as there can be. */
function expiryOf(leftMs: number): number {
  return Math.min(Math.max(1, Math.ceil(leftMs / 1000)), 0xffff_ffff)
}

const plain = {
  qos: 1,
  origin: undefined,
  expiresMs: undefined,
  properties: undefined,
  responseTopic: undefined,
} as const

function bufferOf(content: unknown): Buffer {
  const bytes = content as Uint8Array
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

/** Anybody writes headers: a date that is none counts as none. */
function millisecondsIn(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined
}

function qosIn(text: string | undefined): Delivery['qos'] {
  return text === '0' ? 0 : text === '2' ? 2 : 1
}

/** Wildcards are nothing to publish to. */
function responseTopicIn(text: string | undefined): string | undefined {
  return text === undefined || text === '' || !isMqttText(text) || /[+#]/.test(text) ? undefined : text
}

/** MQTT has no NUL in a text (section 1.5.4), which a header may have. */
function isMqttText(text: string): boolean {
  return !text.includes('\0')
}

function propertiesIn(headers: Message['headers'], names: readonly string[]): MessageProperties | undefined {
  const userProperties: UserProperties = Object.create(null) as UserProperties
  for (const name of names) if (!isReserved(name)) addTo(userProperties, name, headers[name] ?? '')
  for (const [name, value] of pairsIn(headers[headerNames.otherProperties]))
    addTo(userProperties, name, value)
  const contentType = headers[headerNames.contentType]
  const correlation = headers[headerNames.correlationData]
  const properties: MessageProperties = {
    ...(contentType === undefined || !isMqttText(contentType) ? {} : { contentType }),
    ...(headers[headerNames.payloadFormat] === '1' ? { payloadFormatIndicator: true } : {}),
    ...(correlation === undefined ? {} : { correlationData: Buffer.from(correlation, 'base64') }),
    ...(Object.keys(userProperties).length === 0 ? {} : { userProperties }),
  }
  return Object.keys(properties).length === 0 ? undefined : properties
}

function addTo(properties: UserProperties, name: string, value: string): void {
  if (!isMqttText(name) || !isMqttText(value)) return
  const known = properties[name]
  properties[name] = known === undefined ? value : [known, value].flat()
}

/** None where the header is not what a gateway writes. */
function pairsIn(json: string | undefined): readonly (readonly [string, string])[] {
  if (json === undefined) return []
  try {
    const parsed: unknown = JSON.parse(json)
    return Array.isArray(parsed) ? parsed.filter(isPair) : []
  } catch {
    return []
  }
}

function isPair(value: unknown): value is [string, string] {
  return Array.isArray(value) && value.length === 2 && value.every((text) => typeof text === 'string')
}
