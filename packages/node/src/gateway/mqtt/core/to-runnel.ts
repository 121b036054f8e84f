import { isUtf8 } from 'node:buffer'
import { limits, type NodeId } from '@runnel/protocol'
import type { IPublishPacket, UserProperties } from 'mqtt-packet'
import { headerNames, isReserved, retainedKey } from './header-names.ts'
import { MqttProblem, Reason } from './reasons.ts'
import { topicOf } from './topics.ts'

/** What MQTT says of a message beside its topic. */
export type MessageProperties = Omit<
  NonNullable<IPublishPacket['properties']>,
  'topicAlias' | 'subscriptionIdentifier'
>

/** A message as a client publishes it, or leaves it as its will. */
export interface MqttMessage {
  readonly topic: string
  readonly payload: Buffer
  readonly qos: number
  readonly retain: boolean
  readonly properties?: MessageProperties | undefined
}

/** The same for `publish` of the SDK, or `remove`. */
export interface RunnelContent {
  readonly content: Buffer
  readonly bytesAre: 'json' | 'text' | undefined
  readonly headers: Readonly<Record<string, string>> | undefined
  readonly key: string | undefined
  /** An empty retained message: there is none from here on. */
  readonly removes: boolean
}

/** `origin` names the session to itself, where it does not want its own messages back. Throws MqttProblem `payloadInvalid` or `quotaExceeded`. */
export function toRunnel(
  message: MqttMessage,
  {
    own,
    origin,
    wallMs,
  }: { readonly own: NodeId; readonly origin: string | undefined; readonly wallMs: number },
): RunnelContent {
  const { payload, retain, qos, properties } = message
  // Without a prototype: `__proto__` is a name like any other.
  const headers = Object.create(null) as Record<string, string>
  if (qos !== 1) headers[headerNames.qos] = String(qos)
  if (origin !== undefined) headers[headerNames.origin] = origin
  if (properties !== undefined) addProperties(headers, properties, own, wallMs)
  if (properties?.payloadFormatIndicator === true && !isUtf8(payload))
    throw new MqttProblem(Reason.payloadInvalid, 'the payload is not UTF-8, as it is said to be')
  return {
    content: payload,
    bytesAre: kindOf(payload, properties?.contentType),
    headers: Object.keys(headers).length === 0 ? undefined : headers,
    key: retain ? retainedKey : undefined,
    removes: retain && payload.length === 0,
  }
}

function addProperties(
  headers: Record<string, string>,
  properties: MessageProperties,
  own: NodeId,
  wallMs: number,
): void {
  const { contentType, payloadFormatIndicator, responseTopic, correlationData } = properties
  const { messageExpiryInterval, userProperties } = properties
  if (contentType !== undefined) headers[headerNames.contentType] = contentType
  if (payloadFormatIndicator === true) headers[headerNames.payloadFormat] = '1'
  if (responseTopic !== undefined) headers[headerNames.responseTopic] = fullTopic(responseTopic, own)
  if (correlationData !== undefined)
    headers[headerNames.correlationData] = Buffer.from(correlationData).toString('base64')
  if (messageExpiryInterval !== undefined)
    headers[headerNames.expires] = String(wallMs + 1000 * messageExpiryInterval)
  if (userProperties !== undefined) addUserProperties(headers, userProperties)
  for (const value of Object.values(headers))
    if (Buffer.byteLength(value) > limits.maxHeaderValueBytes)
      throw new MqttProblem(
        Reason.quotaExceeded,
        `a property of more than ${limits.maxHeaderValueBytes} bytes`,
      )
  if (Object.keys(headers).length > limits.maxHeaders)
    throw new MqttProblem(Reason.quotaExceeded, 'too many user properties')
}

function addUserProperties(headers: Record<string, string>, given: UserProperties): void {
  const others: [string, string][] = []
  for (const [name, values] of Object.entries(given)) {
    const isHeader =
      typeof values === 'string' &&
      /^[ -~]+$/.test(name) &&
      name.length <= limits.maxHeaderNameBytes &&
      !isReserved(name)
    if (isHeader) headers[name] = values
    else for (const value of [values].flat()) others.push([name, value])
  }
  if (others.length > 0) headers[headerNames.otherProperties] = JSON.stringify(others)
}

/** With the owner, so that it means the same to everybody. What is no stream is passed on as it is. */
function fullTopic(topic: string, own: NodeId): string {
  try {
    const { streamId, partition } = topicOf(topic, own)
    return partition === undefined ? streamId : `${streamId}@${partition}`
  } catch (error) {
    if (error instanceof MqttProblem) return topic
    throw error
  }
}

/** JSON where it says so, or looks like an object or array and is one; else text where it is UTF-8. */
function kindOf(payload: Buffer, contentType: string | undefined): RunnelContent['bytesAre'] {
  if (!isUtf8(payload)) return undefined
  const first = payload[0]
  const looksLikeJson = first === 0x7b || first === 0x5b
  const saysJson = contentType !== undefined && /^application\/(json|[^;]+\+json)\b/i.test(contentType)
  if (!looksLikeJson && !saysJson) return 'text'
  try {
    JSON.parse(payload.toString())
    return 'json'
  } catch {
    return 'text'
  }
}
