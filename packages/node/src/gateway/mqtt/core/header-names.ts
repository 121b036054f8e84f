/**
 * Under which names a message says what MQTT has properties for. Together with its user properties, which have their own names, they are
 * the headers of a message, so that others read them too.
 */
export const headerNames = {
  contentType: 'content-type',
  /** `1`: its publisher said that the payload is UTF-8. */
  payloadFormat: 'mqtt-payload-format',
  /** As a stream id where it is a topic of a stream. */
  responseTopic: 'mqtt-response-topic',
  /** Base64. */
  correlationData: 'mqtt-correlation-data',
  /** Unix milliseconds after which nobody needs it. */
  expires: 'mqtt-expires',
  /** `0` or `2`, as it was published; without it, as from others than gateways, 1. */
  qos: 'mqtt-qos',
  /** User properties that cannot be headers of their own, as JSON: `[[name, value], …]`. */
  otherProperties: 'mqtt-properties',
  /** Of a session that does not want its own messages back. */
  origin: 'mqtt-origin',
} as const

/** The key of messages that were published with RETAIN: the newest is what a subscriber gets first. */
export const retainedKey = 'retained'

const reserved: ReadonlySet<string> = new Set(Object.values(headerNames))

/** Names that user properties cannot have as headers. */
export function isReserved(name: string): boolean {
  return reserved.has(name) || name.startsWith('mqtt-') || name.startsWith(':')
}
