import fc from 'fast-check'
import { cardPublicKeyBytes } from '../encryption/card.ts'
import { nodeIdFromBytes } from '../ids/node-id.ts'
import { toStreamId, toStreamPartId } from '../ids/stream-id.ts'
import { limits } from '../limits.ts'
import { type Packet } from './packet-table.ts'
import { detachReasons } from './packets/neighbours.ts'
import { failureReasons } from './packets/overlay.ts'
import { floodModes } from './packets/flooding.ts'
import { linkRoles, sealings } from './packets/link.ts'
import { signalKinds } from './packets/signalling.ts'
import { compareRefs, type MessageRef } from './stream-message.ts'

/** Arbitrary valid packets of every kind but data, urgent and resend data, whose batches need a signature. */

const u32 = fc.integer({ min: 0, max: 0xffffffff })
const flag = fc.boolean()
const counter = fc.maxSafeNat()
const arbitraryBytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length })
export const arbitraryNodeId = arbitraryBytes(20).map(nodeIdFromBytes)

const asciiUnit = fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCharCode(code))
export const arbitraryAscii = (maxLength: number) => fc.string({ unit: asciiUnit, maxLength })
const text = (maxBytes: number) => fc.string({ unit: 'binary', maxLength: Math.floor(maxBytes / 4) })
const list = <T>(item: fc.Arbitrary<T>, maxLength: number) => fc.array(item, { maxLength })
const distinct = <T extends { nodeId: string }>(
  item: fc.Arbitrary<T>,
  maxLength: number = limits.maxNeighbours,
) => fc.uniqueArray(item, { maxLength, selector: ({ nodeId }) => nodeId })
const is = <const T extends string>(type: T) => fc.constant(type)

const path = fc.stringMatching(/^[A-Za-z0-9._-]{1,20}(\/[A-Za-z0-9._-]{1,20}){0,3}$/)
export const arbitraryStreamId = fc
  .tuple(arbitraryNodeId, path)
  .map(([owner, rest]) => toStreamId(`${owner}/${rest}`))
export const arbitraryPartition = fc.integer({ min: 0, max: limits.maxPartitions - 1 })
const streamPartId = fc
  .tuple(arbitraryStreamId, arbitraryPartition)
  .map(([streamId, partition]) => toStreamPartId(streamId, partition))

const kind = fc.oneof(
  fc.constantFrom('websocket', 'webrtc', 'tcp'),
  fc.stringMatching(/^[a-z][a-z0-9-]{0,15}$/),
)
const contact = fc.record({
  addresses: fc.array(fc.record({ kind, text: arbitraryAscii(limits.maxUrlBytes) }), {
    maxLength: limits.maxAddresses,
  }),
  dials: fc.array(kind, { maxLength: limits.maxAddresses }),
})
const ref = fc.record({ timestamp: fc.integer({ min: 0, max: 2 ** 48 - 1 }), sequenceNumber: u32 })
const messageChainId = arbitraryAscii(limits.maxMessageChainIdBytes)
const chain = { publisherId: arbitraryNodeId, messageChainId }
const head = fc.tuple(fc.record(chain), ref).map(([of, at]) => ({ ...of, ...at }))
/** An even number of different places, in order. */
const places = (pairs: number) =>
  fc
    .uniqueArray(ref, {
      minLength: 2,
      maxLength: 2 * pairs,
      selector: ({ timestamp, sequenceNumber }) => `${timestamp} ${sequenceNumber}`,
    })
    .map((refs) => refs.sort(compareRefs).slice(refs.length % 2))
const ranges = places(limits.maxFetchRanges).map((refs) =>
  refs.flatMap((after, i) => (i % 2 === 0 ? [{ after, upTo: refs[i + 1] as MessageRef }] : [])),
)
const span = fc
  .tuple(ref, ref)
  .map(([a, b]) => (compareRefs(a, b) > 0 ? { from: b, to: a } : { from: a, to: b }))
const optional = <T>(item: fc.Arbitrary<T>) => fc.option(item, { nil: undefined })
const token = optional(
  fc.record({
    userId: arbitraryNodeId,
    expiresMs: fc.integer({ min: 0, max: 2 ** 48 - 1 }),
    signature: arbitraryBytes(65),
  }),
)
const selection = fc.oneof(
  fc.record({ kind: is('last'), count: fc.integer({ min: 1, max: limits.maxResendCount }) }),
  span.map((both) => ({ kind: 'range' as const, ...both })),
)
const ofChain = fc.oneof(
  fc.record({ publisherId: optional(arbitraryNodeId), messageChainId: fc.constant(undefined) }),
  fc.record(chain),
)
const outcome = { requestId: u32, code: arbitraryAscii(limits.maxTextBytes), text: text(limits.maxTextBytes) }
const rttMs = optional(fc.integer({ min: 0, max: 0xfffffffe }).map((tenths) => tenths / 10))
const iceServer = fc.record({
  url: arbitraryAscii(limits.maxUrlBytes),
  username: text(limits.maxTextBytes),
  credential: text(limits.maxTextBytes),
})

const arbitraryCard = fc.record({
  chainId: counter,
  userId: arbitraryNodeId,
  generation: u32,
  dateMs: fc.integer({ min: 0, max: 2 ** 48 - 1 }),
  block: counter,
  publicKey: arbitraryBytes(cardPublicKeyBytes),
  signature: fc.uint8Array({ maxLength: 100 }),
})

export const arbitraryPacket: fc.Arbitrary<Packet> = fc.oneof(
  fc.record({
    type: is('hello'),
    versions: fc.record({ oldest: fc.integer({ min: 0, max: 3 }), newest: fc.integer({ min: 3, max: 255 }) }),
    role: fc.constantFrom(...linkRoles),
    nodeId: arbitraryNodeId,
    nonce: arbitraryBytes(32),
    sealing: fc.constantFrom(...sealings),
    address: arbitraryAscii(limits.maxAddressBytes),
    agent: text(limits.maxTextBytes),
    capabilities: fc.array(
      fc.record({ name: arbitraryAscii(limits.maxCapabilityBytes), required: fc.boolean() }),
      { maxLength: limits.maxCapabilities },
    ),
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
  fc.tuple(fc.integer({ min: 1, max: limits.maxPieces }), fc.nat(limits.maxPieces - 1)).chain(([count, at]) =>
    fc.record({
      type: is('piece'),
      object: u32,
      index: fc.constant(at % count),
      count: fc.constant(count),
      remainingMs: fc.nat(limits.maxUrgentLifetimeMs),
      bytes: fc.uint8Array({ minLength: 1, maxLength: 500 }),
    }),
  ),
  fc.record({ type: is('mark'), number: u32 }),
  fc.record({
    type: is('arrivals'),
    heldTenthsMs: u32,
    frames: fc
      .uniqueArray(fc.record({ number: u32, atTenthsMs: fc.nat(2 ** 31 - 1) }), {
        selector: ({ number }) => number,
        maxLength: limits.maxArrivals,
      })
      .map((frames) => frames.sort((a, b) => a.number - b.number)),
  }),
  fc.record({
    type: is('attach'),
    streamPartId,
    sinceMs: counter,
    heads: list(head, limits.maxChainHeads),
  }),
  fc.record({
    type: is('guestAttach'),
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
  fc.record({
    type: is('fullStatus'),
    streamPartId,
    counter,
    neighbours: distinct(
      fc.record({ nodeId: arbitraryNodeId, rttMs, transport: fc.integer({ min: 0, max: 255 }) }),
    ),
    failed: fc.constant([]),
  }),
  fc.record({
    type: is('about'),
    role: fc.constantFrom('node', 'storage', 'client', 'page', 'x-2'),
    version: arbitraryAscii(limits.maxNodeVersionBytes),
    name: arbitraryAscii(limits.maxNodeNameBytes),
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
  fc.record({ type: is('offerTaken'), sessionId: u32, peerId: arbitraryNodeId }),
  fc.record({ type: is('iceServers'), servers: list(iceServer, limits.maxIceServers), ttlS: counter }),
  fc.record({
    type: is('trackerError'),
    code: arbitraryAscii(limits.maxTextBytes),
    message: text(limits.maxTextBytes),
  }),
  fc.record({ type: is('fetch'), requestId: u32, streamPartId, ...chain, ranges }),
  fc.record({ type: is('fetched'), requestId: u32, complete: flag }),
  fc.record({
    type: is('askLatest'),
    requestId: u32,
    streamPartId,
    tag: fc.option(fc.uint8Array({ minLength: 16, maxLength: 16 }), { nil: undefined }),
  }),
  fc.record({
    type: is('thin'),
    streamPartId,
    ...chain,
    alias: u32,
    mode: fc.constantFrom(...floodModes),
    forMs: fc.integer({ min: 0, max: limits.maxThinMs }),
  }),
  fc.record({
    type: is('digest'),
    entries: fc.array(
      fc
        .tuple(fc.record({ alias: u32, isSenders: flag, check: u32 }), ref)
        .map(([of, at]) => ({ ...of, ...at })),
      { minLength: 1, maxLength: 20 },
    ),
  }),
  fc.record({
    type: is('urgentDigest'),
    entries: fc.array(
      fc.tuple(fc.record({ alias: u32, check: u32 }), ref).map(([of, at]) => ({ ...of, ...at })),
      { minLength: 1, maxLength: 20 },
    ),
  }),
  fc.record({
    type: is('urgentPull'),
    entries: fc.array(
      fc.tuple(u32, ref).map(([alias, at]) => ({ alias, ...at })),
      { minLength: 1, maxLength: 20 },
    ),
  }),
  fc.record({ type: is('heads'), streamPartId, heads: list(head, limits.maxChainHeads) }),
  fc.record({ type: is('clockAsk'), token: u32 }),
  fc.record({ type: is('clockTell'), token: u32, atUs: counter }),
  fc.record({ type: is('storing'), streamPartId, storing: flag }),
  fc.record({ type: is('findStorage'), requestId: u32, streamPartId }),
  fc.record({ type: is('askCount'), requestId: u32, streamPartId }),
  fc.record({ type: is('count'), requestId: u32, readers: u32, feeders: u32 }),
  fc.record({ type: is('redirect'), streamPartId, leaderId: arbitraryNodeId }),
  fc.record({
    type: is('storageNodes'),
    requestId: u32,
    streamPartId,
    nodes: distinct(fc.record({ nodeId: arbitraryNodeId, contact }), limits.maxStorageNodes),
  }),
  fc
    .tuple(
      fc.record({ type: is('resend'), requestId: u32, streamPartId, selection, windowBytes: u32, token }),
      ofChain,
    )
    .map(([request, of]) => ({ ...request, ...of })),
  fc
    .tuple(
      fc.record({
        type: is('resendStart'),
        requestId: u32,
        count: fc.integer({ min: 0, max: limits.maxResendCount }),
      }),
      span,
    )
    .map(([start, both]) => ({ ...start, ...both })),
  fc.record({ type: is('resendMore'), requestId: u32, bytes: u32 }),
  fc.record({ type: is('resendEnd'), ...outcome }),
  fc.record({ type: is('resendCancel'), requestId: u32 }),
  fc
    .tuple(fc.record({ type: is('awaitStored'), requestId: u32, streamPartId, token }), head)
    .map(([request, at]) => ({ ...request, ...at })),
  fc.record({ type: is('stored'), ...outcome }),
  fc.record({
    type: is('askTable'),
    requestId: u32,
    streamPartId,
    tag: fc.option(fc.uint8Array({ minLength: 16, maxLength: 16 }), { nil: undefined }),
    windowBytes: u32,
    token: fc.constant(undefined),
  }),
  fc.record({ type: is('keepCard'), requestId: u32, card: arbitraryCard }),
  fc.record({
    type: is('askCards'),
    requestId: u32,
    userIds: fc.uniqueArray(arbitraryNodeId, { maxLength: limits.maxCards }),
  }),
  fc.record({
    type: is('cards'),
    requestId: u32,
    cards: fc.uniqueArray(arbitraryCard, { selector: ({ userId }) => userId, maxLength: 3 }),
  }),
)
