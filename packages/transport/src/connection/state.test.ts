import { PacketType } from '@runnel/protocol'
import { describe, expect, it } from 'vitest'
import { inputOfPacket, transition, type ConnectionInput, type ConnectionState } from './state.ts'

const inputs: ConnectionInput[] = ['hello', 'proof', 'packet', 'goodbye', 'end', 'lost']
const rows: [ConnectionState, (ConnectionState | 'violation')[]][] = [
  ['greeting', ['proving', 'violation', 'violation', 'closed', 'closing', 'closed']],
  ['proving', ['violation', 'open', 'violation', 'closed', 'closing', 'closed']],
  ['open', ['violation', 'violation', 'open', 'closed', 'closing', 'closed']],
  ['closing', ['closing', 'closing', 'closing', 'closing', 'closing', 'closed']],
  ['closed', ['closed', 'closed', 'closed', 'closed', 'closed', 'closed']],
]
const cells = rows.flatMap(([state, after]) => inputs.map((input, i) => [state, input, after[i]] as const))

describe('transition', () => {
  it.each(cells)('%s, %s: %s', (state, input, after) => expect(transition(state, input)).toBe(after))
})

describe('inputOfPacket', () => {
  it.each([
    [PacketType.hello, 'hello'],
    [PacketType.proof, 'proof'],
    [PacketType.close, 'goodbye'],
    [PacketType.ping, 'packet'],
    [PacketType.data, 'packet'],
    [0, 'packet'],
  ])('packet type %i is %s', (type, input) => expect(inputOfPacket(type)).toBe(input))
})
