import { PacketType } from '@runnel/protocol'

/**
 * The state of a connection: its hello is sent, here or with a signal (`greeting`), the other's hello came and the proof is sent (`proving`), both are
 * proven (`open`), the last packets are being sent (`closing`), over (`closed`).
 */
export type ConnectionState = 'greeting' | 'proving' | 'open' | 'closing' | 'closed'

/**
 * An input: a packet arrives (`packet` is any other than hello, proof and close), this side ends the connection, or the channel
 * is closed.
 */
export type ConnectionInput = 'hello' | 'proof' | 'packet' | 'goodbye' | 'end' | 'lost'

type Transitions = Readonly<Record<ConnectionInput, ConnectionState | 'violation'>>

const table: Readonly<Record<ConnectionState, Transitions>> = {
  greeting: {
    hello: 'proving',
    proof: 'violation',
    packet: 'violation',
    goodbye: 'closed',
    end: 'closing',
    lost: 'closed',
  },
  proving: {
    hello: 'violation',
    proof: 'open',
    packet: 'violation',
    goodbye: 'closed',
    end: 'closing',
    lost: 'closed',
  },
  open: {
    hello: 'violation',
    proof: 'violation',
    packet: 'open',
    goodbye: 'closed',
    end: 'closing',
    lost: 'closed',
  },
  // Whatever the peer still sends crossed our close packet.
  closing: {
    hello: 'closing',
    proof: 'closing',
    packet: 'closing',
    goodbye: 'closing',
    end: 'closing',
    lost: 'closed',
  },
  closed: {
    hello: 'closed',
    proof: 'closed',
    packet: 'closed',
    goodbye: 'closed',
    end: 'closed',
    lost: 'closed',
  },
}

/** The state after `input`, or `violation` when the peer was not allowed to send that. */
export function transition(state: ConnectionState, input: ConnectionInput): ConnectionState | 'violation' {
  return table[state][input]
}

/** The input that a packet of this type is. */
export function inputOfPacket(type: number): ConnectionInput {
  switch (type) {
    case PacketType.hello:
      return 'hello'
    case PacketType.proof:
      return 'proof'
    case PacketType.close:
      return 'goodbye'
    default:
      return 'packet'
  }
}
