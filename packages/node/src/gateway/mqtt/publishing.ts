import { isRunnelError, type Clock, type RunnelError } from '@runnel/protocol'
import type { PublishedMessage, RunnelClient } from '@runnel/client'
import type { GatewayAccount } from '../access/account.ts'
import { MqttProblem, Reason } from './core/reasons.ts'
import type { Session } from './core/session.ts'
import { toRunnel, type MqttMessage, type RunnelContent } from './core/to-runnel.ts'
import type { Topic } from './core/topics.ts'

/** In whose name, and for which session. */
export interface Publisher {
  readonly account: GatewayAccount
  readonly client: RunnelClient
  readonly session: Session
}

export interface PublishSettings {
  /** Whether QoS 1 waits for a storage node where the stream has one. */
  readonly waitsForStorage: boolean
}

/**
 * Publishes what a client sends. Resolves to a reason: success, or that nobody else is there, so that only who joins soon gets it. A
 * message of QoS 1 or 2 is stored by then where the stream has storage nodes, and else handed to the neighbours. Throws MqttProblem.
 */
export async function publishMessage(
  message: MqttMessage,
  { account, client, session }: Publisher,
  { waitsForStorage }: PublishSettings,
  clock: Pick<Clock, 'now'>,
): Promise<number> {
  const { own, key, origin } = session
  const topic = session.topic(message.topic)
  if (!account.mayPublish(topic.streamId))
    throw new MqttProblem(Reason.notAuthorized, 'the key is not for publishing to this stream')
  if (message.payload.length > account.maxMessageBytes)
    throw new MqttProblem(Reason.quotaExceeded, `the key allows ${account.maxMessageBytes} bytes a message`)
  const wallMs = clock.now()
  const content = toRunnel(message, { own, wallMs, origin: session.wantsNotItsOwn ? origin : undefined })
  try {
    const published = await publish(client, topic, content, key.clientId)
    if (message.qos > 0 && waitsForStorage && (await client.getStorageNodes(topic.streamId)).length > 0) {
      await client.waitForStorage(published)
      return Reason.success
    }
    return published.neighbours === 0 ? Reason.noMatchingSubscribers : Reason.success
  } catch (error) {
    throw problemOf(error)
  }
}

/** Messages of one client stay in one partition, and so in order, unless the topic says which; retained ones are where their key is. */
function publish(
  client: RunnelClient,
  { streamId, partition }: Topic,
  { content, bytesAre, headers, key, removes }: RunnelContent,
  clientId: string,
): Promise<PublishedMessage> {
  const place =
    partition === undefined ? (key === undefined ? { partitionKey: clientId } : {}) : { partition }
  if (removes && key !== undefined) return client.remove(streamId, key, place)
  return client.publish(streamId, content, { ...place, bytesAre, headers, key })
}

const reasons = new Map<string, number>([
  ['NO_PUBLISH_PERMISSION', Reason.notAuthorized],
  ['NO_SUBSCRIBE_PERMISSION', Reason.notAuthorized],
  ['NODE_NOT_LISTED', Reason.notAuthorized],
  ['DELEGATION_REVOKED', Reason.notAuthorized],
  ['DELEGATION_EXPIRED', Reason.notAuthorized],
  ['STREAM_NOT_FOUND', Reason.topicInvalid],
  ['PARTITION_OUT_OF_RANGE', Reason.topicInvalid],
  ['INVALID_STREAM_ID', Reason.topicInvalid],
  ['PUBLISH_QUEUE_FULL', Reason.quotaExceeded],
  ['MESSAGE_TOO_LARGE', Reason.quotaExceeded],
  ['INVALID_HEADERS', Reason.implementation],
])

/** What the SDK refuses, in MQTT's words. */
export function problemOf(error: unknown): unknown {
  if (!isRunnelError(error)) return error
  return new MqttProblem(reasons.get(error.code) ?? Reason.unspecified, textOf(error))
}

function textOf({ code, message }: RunnelError): string {
  return `${code}: ${message}`.slice(0, 300)
}
