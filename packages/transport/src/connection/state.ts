import { PacketType } from '@runnel/protocol'

/**
 * Where a connection is: its hello is out (`greeting`), the other's hello came and the proof is out (`proving`), both are
 * proven (`open`), the last packets are on their way out (`closing`), over (`closed`).
 */
export type ConnectionState = 'greeting' | 'proving' | 'open' | 'closing' | 'closed'

/**
 * What can happen to it: a packet arrives (`packet` is any other than hello, proof and close), this side ends it, or the
 * channel is gone.
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
  // Whatever the peer still sends crossed our close on its way.
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

/** The state after `input`, or `violation` when the peer was not allowed to do that. */
export function transition(state: ConnectionState, input: ConnectionInput): ConnectionState | 'violation' {
  return table[state][input]
}

/** What the arrival of a packet of this type is to the state. */
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
