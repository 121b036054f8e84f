import {
  decodePacket,
  encodePacket,
  PacketType,
  readPackets,
  type Clock,
  type Status,
} from '@runnel/protocol'
import type { Connection } from '@runnel/transport'

/** A claimed round-trip time that no node can beat. */
export const tinyRttMs = 0.1
/** How often unrequested pongs are sent, for how many tokens, and for how long after a link opened. */
const pong = { everyMs: 2, tokens: 4, forMs: 2_000 }

/** The packet with another status in place of its own; other packets stay as they are. */
export function withStatus(packet: Uint8Array, change: (status: Status) => Status): Uint8Array {
  if (packet[0] !== PacketType.status) return packet
  const [raw] = readPackets(packet)
  const status = raw === undefined ? undefined : decodePacket(raw.type, raw.body)
  return status?.type === 'status' ? encodePacket(change(status)) : packet
}

/** Pongs before the ping can have come: the other end measures a time that is too short. */
export function answerEarly(connection: Connection, clock: Clock, isOver: () => boolean): void {
  const untilMs = clock.monotonicMs() + pong.forMs
  const answer = (): void => {
    for (let token = 1; token <= pong.tokens; token++) connection.send(encodePacket({ type: 'pong', token }))
    if (clock.monotonicMs() < untilMs && !isOver()) clock.schedule(pong.everyMs, answer)
  }
  answer()
}
