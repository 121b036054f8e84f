import fc from 'fast-check'
import { nodeIdFromBytes } from '../ids/node-id.ts'
import { toStreamId, toStreamPartId } from '../ids/stream-id.ts'
import { limits } from '../limits.ts'
import { detachReasons, failureReasons, linkRoles, signalKinds, type Packet } from './packets.ts'

/** Arbitrary valid packets of every kind but data, whose batches need a signature. */

const u32 = fc.integer({ min: 0, max: 0xffffffff })
const flag = fc.boolean()
const counter = fc.maxSafeNat()
export const arbitraryBytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length })
export const arbitraryNodeId = arbitraryBytes(20).map(nodeIdFromBytes)

const asciiUnit = fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCharCode(code))
export const arbitraryAscii = (maxLength: number) => fc.string({ unit: asciiUnit, maxLength })
const text = (maxBytes: number) => fc.string({ unit: 'binary', maxLength: Math.floor(maxBytes / 4) })
const list = <T>(item: fc.Arbitrary<T>, maxLength: number) => fc.array(item, { maxLength })
const distinct = <T extends { nodeId: string }>(item: fc.Arbitrary<T>) =>
  fc.uniqueArray(item, { maxLength: limits.maxNeighbours, selector: ({ nodeId }) => nodeId })
const is = <const T extends string>(type: T) => fc.constant(type)

const path = fc.stringMatching(/^[A-Za-z0-9._-]{1,20}(\/[A-Za-z0-9._-]{1,20}){0,3}$/)
export const arbitraryStreamId = fc
  .tuple(arbitraryNodeId, path)
  .map(([owner, rest]) => toStreamId(`${owner}/${rest}`))
export const arbitraryPartition = fc.integer({ min: 0, max: limits.maxPartitions - 1 })
const streamPartId = fc
  .tuple(arbitraryStreamId, arbitraryPartition)
  .map(([streamId, partition]) => toStreamPartId(streamId, partition))

const contact = fc.record({ websocketUrl: arbitraryAscii(limits.maxUrlBytes), websocket: flag, webrtc: flag })
const head = fc.record({
  publisherId: arbitraryNodeId,
  messageChainId: arbitraryAscii(limits.maxMessageChainIdBytes),
  timestamp: fc.integer({ min: 0, max: 2 ** 48 - 1 }),
  sequenceNumber: u32,
})
const rttMs = fc.option(
  fc.integer({ min: 0, max: 0xfffffffe }).map((tenths) => tenths / 10),
  { nil: undefined },
)
const iceServer = fc.record({
  url: arbitraryAscii(limits.maxUrlBytes),
  username: text(limits.maxTextBytes),
  credential: text(limits.maxTextBytes),
})

export const arbitraryPacket: fc.Arbitrary<Packet> = fc.oneof(
  fc.record({
    type: is('hello'),
    version: fc.constant(1),
    role: fc.constantFrom(...linkRoles),
    nodeId: arbitraryNodeId,
    nonce: arbitraryBytes(32),
    agent: text(limits.maxTextBytes),
  }),
  fc.record({ type: is('proof'), signature: arbitraryBytes(65) }),
  fc.record({ type: is('ping'), token: u32 }),
  fc.record({ type: is('pong'), token: u32 }),
  fc.record({
    type: is('close'),
    code: arbitraryAscii(limits.maxTextBytes),
    reason: text(limits.maxTextBytes),
  }),
  fc.record({ type: is('fragment'), last: flag, bytes: fc.uint8Array({ minLength: 1, maxLength: 500 }) }),
  fc.record({
    type: is('attach'),
    streamPartId,
    sinceMs: counter,
    heads: list(head, limits.maxChainHeads),
  }),
  fc.record({ type: is('detach'), streamPartId, reason: fc.constantFrom(...detachReasons) }),
  fc.record({ type: is('nodeInfo'), contact }),
  fc.record({
    type: is('status'),
    streamPartId,
    counter,
    neighbours: distinct(fc.record({ nodeId: arbitraryNodeId, rttMs })),
    failed: list(
      fc.record({ nodeId: arbitraryNodeId, reason: fc.constantFrom(...failureReasons) }),
      limits.maxFailedNeighbours,
    ),
  }),
  fc.record({ type: is('leave'), streamPartId }),
  fc.record({
    type: is('instruction'),
    streamPartId,
    counter,
    neighbours: distinct(fc.record({ nodeId: arbitraryNodeId, contact })),
  }),
  fc.record({
    type: is('signal'),
    peerId: arbitraryNodeId,
    sessionId: u32,
    kind: fc.constantFrom(...signalKinds),
    payload: text(limits.maxSignalBytes),
  }),
  fc.record({ type: is('iceServers'), servers: list(iceServer, limits.maxIceServers), ttlS: counter }),
  fc.record({
    type: is('trackerError'),
    code: arbitraryAscii(limits.maxTextBytes),
    message: text(limits.maxTextBytes),
  }),
)
