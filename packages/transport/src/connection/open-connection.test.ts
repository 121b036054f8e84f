import {
  createIdentity,
  encodePacket,
  joined,
  packetBytes,
  PacketType,
  readPackets,
  signDelegation,
  toStreamId,
  toStreamPartId,
  type NodeId,
} from '@runnel/protocol'
import { describe, expect, it } from 'vitest'
import { testModules } from '../conformance/modules.testkit.ts'
import { MemoryChannel } from '../memory/memory-channel.ts'
import { MemoryNetwork } from '../memory/memory-network.ts'
import { MemoryWay } from '../memory/memory-way.ts'
import { VirtualClock } from '../memory/virtual-clock.ts'
import type { Connection } from '../ports.ts'
import { Handshake } from './handshake.ts'
import type { Acting } from './modules.ts'
import { openConnection, type ConnectionModules } from './open-connection.ts'

type Direction = Handshake['direction']
interface EndOptions {
  readonly expectedPeerId?: NodeId
  readonly modules?: Partial<ConnectionModules>
}

/** An end of a channel, and what comes of it. */
class End {
  /** `open`, or the code of a failure. */
  readonly outcomes: string[] = []
  readonly sentTypes: number[] = []
  /** How long each frame was that it sent. */
  readonly sentBytes: number[] = []
  /** Of packets that came once it was open, in order. */
  readonly received: Uint8Array[] = []
  message = ''
  connection: Connection | undefined
  readonly handshake: Handshake
  readonly #channel: MemoryChannel
  readonly #direction: Direction
  readonly #modules: ConnectionModules

  constructor(
    channel: MemoryChannel,
    direction: Direction,
    modules: ConnectionModules,
    expectedPeerId?: NodeId,
  ) {
    this.#channel = channel
    this.#direction = direction
    this.#modules = modules
    this.handshake = this.newHandshake({}, expectedPeerId)
    const send = channel.send.bind(channel)
    channel.send = (frame) => {
      this.sentTypes.push(frame[0] ?? 0)
      this.sentBytes.push(frame.length)
      send(frame)
    }
  }

  newHandshake(modules: Partial<ConnectionModules> = {}, expectedPeerId?: NodeId): Handshake {
    return new Handshake(
      { channel: this.#channel, direction: this.#direction, role: 'node', expectedPeerId },
      { ...this.#modules, ...modules },
    )
  }

  open(carriedHello?: Uint8Array, first?: () => Uint8Array | undefined): void {
    openConnection(
      { channel: this.#channel, handshake: this.handshake, carriedHello, first },
      this.#modules,
      {
        onOpen: (connection) => {
          this.outcomes.push('open')
          this.connection = connection
          connection.events = {
            onPacket: (_type, _body, whole) => void this.received.push(whole.slice()),
            onDrain() {},
            onClose() {},
          }
        },
        onFail: ({ code, message }) => {
          this.outcomes.push(code)
          this.message = message
        },
      },
    )
    // Never before it returns.
    expect(this.outcomes).toEqual([])
  }
}

/** Two ends of a channel; `reader` is the one that is brought what a test makes of the other's hello. */
function setUp(direction: Direction, { expectedPeerId, modules }: EndOptions = {}) {
  const clock = new VirtualClock()
  const [a, b] = [{ ...testModules('a', clock), ...modules }, testModules('b', clock)]
  const network = new MemoryNetwork({ seed: 1 }, { clock })
  const dial = { from: a.identity.nodeId, to: b.identity.nodeId, number: 0 }
  const [near, far] = [false, true].map(
    (isBack) => new MemoryChannel(new MemoryWay(network, dial, { isBack, latencyMs: 1, lowMarkBytes: 1 })),
  ) as [MemoryChannel, MemoryChannel]
  near.join(far)
  const reader = new End(near, direction, a, expectedPeerId)
  const other = new End(far, direction === 'outbound' ? 'inbound' : 'outbound', b)
  return { clock, reader, other }
}

const needs = (name: string) => ({ capabilities: [{ name, required: true }] })
const none = new Uint8Array(0)
const { hello: helloType, proof: proofType, data } = PacketType

describe.each<Direction>(['outbound', 'inbound'])('a carried hello, read by the %s side', (direction) => {
  it('goes by no channel: the first frame of each side is its proof', () => {
    const { clock, reader, other } = setUp(direction)
    reader.open(other.handshake.hello())
    other.open(reader.handshake.hello())
    clock.advanceBy(1_000)
    expect([reader.outcomes, other.outcomes]).toEqual([['open'], ['open']])
    expect([reader.sentTypes[0], other.sentTypes[0]]).toEqual([proofType, proofType])
    expect([...reader.sentTypes, ...other.sentTypes]).not.toContain(helloType)
  })

  const stranger = testModules('stranger', new VirtualClock()).identity.nodeId
  it.each<[string, string, string, (ends: ReturnType<typeof setUp>) => Uint8Array, EndOptions?]>([
    [
      'of another version',
      'UNSUPPORTED_VERSION',
      'versions 99',
      ({ other }) => other.newHandshake({ versions: { oldest: 99, newest: 99 } }).hello(),
    ],
    [
      'that requires what this side lacks',
      'CAPABILITY_MISSING',
      'flying',
      ({ other }) => other.newHandshake(needs('flying')).hello(),
    ],
    [
      'that lacks what this side requires',
      'CAPABILITY_MISSING',
      'flying',
      ({ other }) => other.handshake.hello(),
      { modules: needs('flying') },
    ],
    [
      'of another than was dialled',
      'PEER_ID_MISMATCH',
      stranger,
      ({ other }) => other.handshake.hello(),
      { expectedPeerId: stranger },
    ],
    ['of this side itself', 'HANDSHAKE_FAILED', 'own id', ({ reader }) => reader.newHandshake().hello()],
    ['cut short', 'PROTOCOL_VIOLATION', '', ({ other }) => other.handshake.hello().subarray(0, -1)],
    ['without a body', 'PROTOCOL_VIOLATION', '', () => packetBytes(helloType, Uint8Array.of(3, 3))],
    ['that is empty', 'PROTOCOL_VIOLATION', '', () => none],
    ['that is too long', 'FRAME_TOO_LARGE', '', () => packetBytes(helloType, new Uint8Array(5_000))],
    ['that is none', 'HANDSHAKE_FAILED', 'while greeting', () => encodePacket({ type: 'ping', token: 1 })],
    [
      'with data behind it',
      'HANDSHAKE_FAILED',
      'while proving',
      ({ other }) => joined(other.handshake.hello(), packetBytes(data, new Uint8Array(8))),
    ],
    [
      'with its proof behind it',
      'HANDSHAKE_FAILED',
      'in the frame of a hello',
      ({ reader, other }) => {
        const [packet] = readPackets(reader.handshake.hello())
        other.handshake.receiveHello(packet?.body ?? none)
        return joined(other.handshake.hello(), other.handshake.proof())
      },
    ],
  ])('opens nothing when it is one %s', (_, code, text, carried, options) => {
    const ends = setUp(direction, options)
    const { clock, reader, other } = ends
    reader.open(carried(ends))
    other.open(reader.handshake.hello())
    clock.advanceBy(60_000)
    expect(reader.outcomes).toEqual([code])
    expect(reader.message).toContain(text)
    // The channel is closed, and nothing is waited for.
    expect(clock.nextAtMs).toBeUndefined()
  })

  it('tells the other side why it opens nothing', () => {
    const { clock, reader, other } = setUp(direction, { expectedPeerId: stranger })
    reader.open(other.handshake.hello())
    other.open(reader.handshake.hello())
    clock.advanceBy(1_000)
    expect(other.outcomes).toEqual(['HANDSHAKE_FAILED'])
    expect(other.message).toContain('closed with PEER_ID_MISMATCH')
  })

  it('is the one that its proof must be of', () => {
    const { clock, reader, other } = setUp(direction)
    reader.open(other.newHandshake().hello())
    other.open(reader.handshake.hello())
    clock.advanceBy(1_000)
    expect([reader.outcomes, other.outcomes]).toEqual([['HANDSHAKE_FAILED'], ['HANDSHAKE_FAILED']])
    expect(reader.message).toContain('the signature is not')
  })

  it('is the only one: another by the channel opens nothing', () => {
    const { clock, reader, other } = setUp(direction)
    reader.open(other.handshake.hello())
    other.open()
    clock.advanceBy(1_000)
    expect([reader.outcomes, other.outcomes]).toEqual([['HANDSHAKE_FAILED'], ['HANDSHAKE_FAILED']])
    expect(reader.message).toContain(`packet type ${helloType} while proving`)
  })
})

describe('packets behind the own proof', () => {
  const packet = encodePacket({
    type: 'attach',
    streamPartId: toStreamPartId(toStreamId(`0x${'a'.repeat(40)}/s`), 0),
    sinceMs: 1,
    heads: [],
  })
  /** Opens both ends; says how long the dialler's first frame was. */
  const open = (ends: ReturnType<typeof setUp>, first?: () => Uint8Array | undefined) => {
    const { clock, reader, other } = ends
    reader.open(other.handshake.hello(), first)
    other.open(reader.handshake.hello())
    clock.advanceBy(1_000)
    expect([reader.outcomes, other.outcomes]).toEqual([['open'], ['open']])
    return reader.sentBytes[0] ?? 0
  }
  const proofBytes = open(setUp('outbound'))

  it('go in its frame, come once, and are told by the connection', () => {
    const ends = setUp('outbound')
    expect(open(ends, () => packet)).toBe(proofBytes + packet.length)
    expect(ends.reader.connection?.saidFirst).toEqual(packet)
    expect(ends.other.received).toEqual([packet])
    expect(ends.other.connection?.saidFirst).toBeUndefined()
  })

  it('go behind the credential, where one is shown', () => {
    const { crypto, identity } = testModules('a', new VirtualClock())
    const user = createIdentity(new Uint8Array(32).fill(9), crypto)
    const fromMs = new VirtualClock().now()
    const ids = { chainId: 5, userId: user.nodeId, delegateId: identity.nodeId }
    const claim = { ...ids, fromMs, untilMs: fromMs + 3_600_000 }
    const rights = { publishes: true, reads: true, streams: [], requester: '', block: 0 }
    const credential = { delegation: signDelegation({ ...claim, ...rights }, crypto, user) }
    const acting: Acting = { chainId: 5, credential: () => credential, onChange: () => () => {} }
    const ends = setUp('outbound', { modules: { acting } })
    expect(open(ends, () => packet)).toBeGreaterThan(proofBytes + packet.length)
    expect(ends.other.connection?.actingFor?.userId).toBe(user.nodeId)
    expect(ends.other.received).toEqual([packet])
  })

  it('leave before anything has come from the other side', () => {
    const { clock, reader, other } = setUp('outbound')
    reader.open(other.handshake.hello(), () => packet)
    expect(reader.sentBytes).toEqual([proofBytes + packet.length])
    expect(reader.outcomes).toEqual([])
    clock.advanceBy(60_000)
    expect(reader.outcomes).toEqual(['HANDSHAKE_TIMEOUT'])
  })

  it.each<[string, Direction, (() => Uint8Array | undefined) | undefined]>([
    ['nothing is given', 'outbound', undefined],
    ['it declines', 'outbound', () => undefined],
    ['the other side has dialled', 'inbound', () => packet],
    ['they do not fit in a frame of a handshake', 'outbound', () => new Uint8Array(4_096)],
  ])('do not go where %s', (_, direction, first) => {
    const ends = setUp(direction)
    expect(open(ends, first)).toBe(proofBytes)
    expect(ends.reader.connection?.saidFirst).toBeUndefined()
    expect(ends.other.received).toEqual([])
  })

  it('do not go where asking for them throws, which is told', () => {
    const errors: unknown[] = []
    const ends = setUp('outbound', { modules: { onError: (error) => errors.push(error) } })
    const fault = new Error('by the test')
    const first = () => {
      throw fault
    }
    expect(open(ends, first)).toBe(proofBytes)
    expect(errors).toEqual([fault])
    expect(ends.reader.connection?.saidFirst).toBeUndefined()
  })

  it('do not go where the hellos went by the channel', () => {
    const { clock, reader, other } = setUp('outbound')
    reader.open(undefined, () => packet)
    other.open()
    clock.advanceBy(1_000)
    expect([reader.outcomes, other.outcomes]).toEqual([['open'], ['open']])
    expect(other.received).toEqual([])
    expect(reader.connection?.saidFirst).toBeUndefined()
  })
})
