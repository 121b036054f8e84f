import type { IConnackPacket, IConnectPacket } from 'mqtt-packet'
import type { MqttLimits } from '../limits.ts'

export interface Accepted {
  readonly isPresent: boolean
  readonly clientId: string
  readonly expiryS: number
  readonly limits: MqttLimits
}

/** Tells a client that it is connected, and what it may do. */
export function connackOf(
  { protocolVersion, clientId: given, properties }: IConnectPacket,
  { isPresent: sessionPresent, clientId, expiryS, limits }: Accepted,
): IConnackPacket {
  if (protocolVersion !== 5) return { cmd: 'connack', returnCode: 0, sessionPresent }
  return {
    ...{ cmd: 'connack', reasonCode: 0, sessionPresent },
    properties: {
      receiveMaximum: limits.receiveMaximum,
      maximumPacketSize: limits.maxPacketBytes,
      topicAliasMaximum: limits.maxTopicAliases,
      ...(given === '' ? { assignedClientIdentifier: clientId } : {}),
      ...((properties?.sessionExpiryInterval ?? 0) === expiryS ? {} : { sessionExpiryInterval: expiryS }),
    },
  }
}
