/** Reason codes of MQTT 5 (section 2.4) that the gateway gives. */
export const Reason = {
  success: 0x00,
  grantedQos1: 0x01,
  noMatchingSubscribers: 0x10,
  noSubscriptionExisted: 0x11,
  unspecified: 0x80,
  malformed: 0x81,
  protocolError: 0x82,
  implementation: 0x83,
  unsupportedVersion: 0x84,
  clientIdInvalid: 0x85,
  badCredentials: 0x86,
  notAuthorized: 0x87,
  unavailable: 0x88,
  badMethod: 0x8c,
  keepAliveTimeout: 0x8d,
  takenOver: 0x8e,
  filterInvalid: 0x8f,
  topicInvalid: 0x90,
  packetIdInUse: 0x91,
  packetIdNotFound: 0x92,
  receiveMaximum: 0x93,
  aliasInvalid: 0x94,
  packetTooLarge: 0x95,
  rateTooHigh: 0x96,
  quotaExceeded: 0x97,
  shuttingDown: 0x8b,
  payloadInvalid: 0x99,
  sharedNotSupported: 0x9e,
  connectionRate: 0x9f,
  wildcardNotSupported: 0xa2,
} as const

/** The return codes of CONNACK that MQTT 3.1.1 has for these (section 3.2.2.3). */
const returnCodes = new Map<number, number>([
  [Reason.success, 0],
  [Reason.unsupportedVersion, 1],
  [Reason.clientIdInvalid, 2],
  [Reason.badCredentials, 4],
  [Reason.notAuthorized, 5],
])

/** For MQTT 3.1.1; what it has no code for is "server unavailable". */
export function returnCodeOf(reason: number): number {
  return returnCodes.get(reason) ?? 3
}

/** Ends one connection, with a reason its client is told in MQTT 5. */
export class MqttProblem extends Error {
  override readonly name = 'MqttProblem'
  readonly reason: number

  /** `text` is a sentence without secrets. */
  constructor(reason: number, text: string) {
    super(text)
    this.reason = reason
  }
}
