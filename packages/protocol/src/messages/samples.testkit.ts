import { createIdentity, parsePrivateKey, type Identity } from '../crypto/identity.ts'
import { delegationRef, signDelegation } from '../delegation/check-delegation.ts'
import { refOfBytes } from '../delegation/delegation-ref.ts'
import { encodeDelegation, type Delegation, type DelegationClaim } from '../delegation/delegation.ts'
import { cardPublicKeyBytes, signCard, type Card, type CardClaim } from '../encryption/card.ts'
import { toNodeId, type NodeId } from '../ids/node-id.ts'
import { toStreamId, toStreamPartId } from '../ids/stream-id.ts'
import { limits } from '../limits.ts'
import type { Crypto } from '../ports.ts'
import { signAccessToken } from '../signing/access-token.ts'
import { buildBatch } from '../signing/build-batch.ts'
import { signMembership } from '../signing/membership.ts'
import type { MessageDraft } from './batch-codec.ts'
import { type Packet } from './packet-table.ts'
import { detachReasons } from './packets/neighbours.ts'
import type { Membership } from './packets/membership.ts'
import { failureReasons } from './packets/overlay.ts'
import { floodModes } from './packets/flooding.ts'
import { protocolVersions } from './capabilities.ts'
import { signalKinds } from './packets/signalling.ts'
import type { AccessToken } from './packets/membership.ts'
import { ContentType, EncryptionType, type MessageBatch, type MessageChain } from './stream-message.ts'
import { urgentExtensionOf, type UrgentFields } from './urgent.ts'

/** Fixed values of every kind of packet and several kinds of batch: for the vectors, and to be mutated. */

export const samplePrivateKeys = ['1', '2', '3'].map((digit) => digit.repeat(64))

export function sampleIdentity(crypto: Crypto, index = 0): Identity {
  return createIdentity(parsePrivateKey(samplePrivateKeys[index] as string), crypto)
}

const text = (content: string): Uint8Array => new TextEncoder().encode(content)
export const pattern = (length: number): Uint8Array => Uint8Array.from({ length }, (_, i) => i % 251)
export const sampleNodeId = (digit: string): NodeId => toNodeId(`0x${digit.repeat(40)}`)

const time = 1_750_000_000_000

export function sampleDraft(index: number, changes: Partial<MessageDraft> = {}): MessageDraft {
  return {
    timestamp: time + Math.floor(index / 2),
    sequenceNumber: index % 2,
    previous:
      index === 0
        ? undefined
        : { timestamp: time + Math.floor((index - 1) / 2), sequenceNumber: (index - 1) % 2 },
    contentType: ContentType.binary,
    encryptionType: EncryptionType.none,
    groupKeyId: '',
    content: pattern(20 + index),
    ...changes,
  }
}

/** Of the first sample identity to the second, for all that it may do. */
export function sampleDelegation(crypto: Crypto, changes: Partial<DelegationClaim> = {}): Delegation {
  const claim: DelegationClaim = {
    chainId: 31_337,
    userId: sampleIdentity(crypto).nodeId,
    delegateId: sampleIdentity(crypto, 1).nodeId,
    fromMs: time,
    untilMs: time + 86_400_000,
    publishes: true,
    reads: true,
    streams: [],
    requester: 'https://app.example',
    block: 0,
    ...changes,
  }
  return signDelegation(claim, crypto, sampleIdentity(crypto))
}

export function sampleDelegations(
  crypto: Crypto,
): { readonly name: string; readonly delegation: Delegation }[] {
  const streams = ['a', 'b'].map((path) => toStreamId(`${sampleNodeId('a')}/${path}`))
  const contract = sampleDelegation(crypto, { userId: sampleNodeId('c'), block: 2 ** 40 })
  return [
    { name: 'of everything', delegation: sampleDelegation(crypto) },
    { name: 'to read two streams', delegation: sampleDelegation(crypto, { publishes: false, streams }) },
    {
      name: 'to publish, without a chain or a requester',
      delegation: sampleDelegation(crypto, { chainId: 0, reads: false, requester: '' }),
    },
    { name: 'of a contract', delegation: { ...contract, signature: pattern(200) } },
  ]
}

/** Of the first sample identity. */
export function sampleCard(crypto: Crypto, changes: Partial<CardClaim> = {}): Card {
  const claim: CardClaim = {
    chainId: 31_337,
    userId: sampleIdentity(crypto).nodeId,
    ...{ generation: 0, dateMs: time, block: 0 },
    publicKey: pattern(cardPublicKeyBytes),
    ...changes,
  }
  return signCard(claim, crypto, sampleIdentity(crypto))
}

export function sampleCards(crypto: Crypto): { readonly name: string; readonly card: Card }[] {
  const contract = sampleCard(crypto, { userId: sampleNodeId('c'), block: 2 ** 40 })
  return [
    { name: 'the first', card: sampleCard(crypto) },
    {
      name: 'without a chain, of the last generation',
      card: sampleCard(crypto, { chainId: 0, generation: 0xffffffff }),
    },
    { name: 'of a contract', card: { ...contract, signature: pattern(200) } },
  ]
}

export interface SampleBatch {
  readonly name: string
  readonly privateKey: string
  readonly batch: MessageBatch
}

export function sampleBatches(crypto: Crypto): SampleBatch[] {
  const publisher = sampleIdentity(crypto)
  const chain: MessageChain = {
    streamId: toStreamId(`${publisher.nodeId}/weather/oulu`),
    partition: 0,
    publisherId: publisher.nodeId,
    messageChainId: 'mK3vQ81x',
  }
  const sample = (
    name: string,
    messages: readonly MessageDraft[],
    of: MessageChain = chain,
  ): SampleBatch => ({
    name,
    privateKey: samplePrivateKeys[0] as string,
    batch: buildBatch({ chain: of, messages }, crypto, publisher),
  })
  const run = (count: number, first = 0): MessageDraft[] =>
    Array.from({ length: count }, (_, i) => sampleDraft(first + i))
  const encrypted = { encryptionType: EncryptionType.aes256gcm, groupKeyId: 'key-2025-06' }
  return [
    sample('one message, the first of its chain', run(1)),
    sample('one message with a previous', run(1, 7)),
    sample('two messages', run(2)),
    sample('three messages', run(3, 4)),
    sample('five messages', run(5)),
    sample('JSON and text', [
      sampleDraft(0, { contentType: ContentType.json, content: text('{"celsius":-12.5}') }),
      sampleDraft(1, { contentType: ContentType.text, content: text('snö') }),
    ]),
    sample('encrypted', [sampleDraft(0, encrypted), sampleDraft(1), sampleDraft(2, encrypted)]),
    sample('no content, unknown content type', [
      sampleDraft(0, { content: new Uint8Array(), contentType: 255 }),
    ]),
    sample('content with a length of two bytes', [sampleDraft(0, { content: pattern(300) })]),
    sample('a gap before the first', [sampleDraft(9, { previous: { timestamp: 5, sequenceNumber: 0 } })]),
    sample('the largest numbers', [
      sampleDraft(0, { timestamp: 2 ** 48 - 1, sequenceNumber: 2 ** 32 - 1, encryptionType: 255 }),
    ]),
    sample('partition 99, a chain id of 32, a path of 200', run(2), {
      ...chain,
      streamId: toStreamId(`${publisher.nodeId}/${'p'.repeat(200)}`),
      partition: 99,
      messageChainId: 'c'.repeat(32),
    }),
    sample('extensions of later versions', [
      sampleDraft(0, {
        extensions: [
          { type: 1, bytes: pattern(3) },
          { type: 2 ** 32 - 1, bytes: new Uint8Array() },
        ],
      }),
      sampleDraft(1, { ...encrypted, extensions: [{ type: 300, bytes: pattern(200) }] }),
    ]),
    sample('the part for keys', run(1), { ...chain, partition: 100 }),
    sample('an empty chain id', run(1), { ...chain, messageChainId: '' }),
    urgentSample(crypto),
    {
      name: 'two messages, signed by a delegate',
      privateKey: samplePrivateKeys[1] as string,
      batch: buildBatch({ chain, messages: run(2) }, crypto, {
        ...sampleIdentity(crypto, 1),
        delegationRef: delegationRef(encodeDelegation(sampleDelegation(crypto)), crypto),
      }),
    },
  ]
}

const urgentFields: UrgentFields = {
  ...{ lifetimeMs: 300, priority: 20, group: 7, object: 1, order: 'newest-only' },
}

/** Of the first sample identity. */
export function urgentSample(crypto: Crypto, changes: Partial<MessageDraft> = {}): SampleBatch {
  const publisher = sampleIdentity(crypto)
  const chain: MessageChain = {
    streamId: toStreamId(`${publisher.nodeId}/weather/oulu`),
    ...{ partition: 0, publisherId: publisher.nodeId, messageChainId: '!mK3vQ81x' },
  }
  const draft = sampleDraft(0, { extensions: [urgentExtensionOf(urgentFields)], ...changes })
  const batch = buildBatch({ chain, messages: [draft] }, crypto, publisher)
  return { name: 'an urgent message', privateKey: samplePrivateKeys[0] as string, batch }
}

export interface SamplePacket {
  readonly name: string
  readonly packet: Packet
}

export function samplePackets(crypto: Crypto): SamplePacket[] {
  return [...linkPackets(crypto), ...nodePackets(crypto), ...trackerPackets(crypto), ...directPackets(crypto)]
}

const streamPartId = toStreamPartId(toStreamId(`${sampleNodeId('a')}/news`), 3)

function linkPackets(crypto: Crypto): SamplePacket[] {
  const { nodeId, sign } = sampleIdentity(crypto)
  const hello = {
    type: 'hello',
    versions: protocolVersions,
    nodeId,
    nonce: pattern(32),
    sealing: 'none',
    address: '',
    capabilities: [],
  } as const
  return [
    { name: 'hello of a node', packet: { ...hello, role: 'node', agent: 'runnel/0.1.0' } },
    {
      name: 'hello of a dialler that seals',
      packet: {
        ...hello,
        role: 'node',
        sealing: 'aes-256-gcm',
        address: 'node.example:443',
        agent: 'runnel/0.1.0',
      },
    },
    {
      name: 'hello of a later version that can more',
      packet: {
        ...hello,
        versions: { oldest: 2, newest: 4 },
        role: 'node',
        agent: 'runnel/9',
        capabilities: [
          { name: 'early-bird', required: false },
          { name: 'example.org/2', required: true },
        ],
      },
    },
    { name: 'hello of a tracker, no agent', packet: { ...hello, role: 'tracker', agent: '' } },
    { name: 'proof', packet: { type: 'proof', signature: sign(pattern(32)) } },
    ...sampleDelegations(crypto).map(({ name, delegation }) => ({
      name: `credential: ${name}`,
      packet: { type: 'credential', delegation, token: undefined } as const,
    })),
    {
      name: 'credential of a node that is not the delegate',
      packet: {
        type: 'credential',
        delegation: sampleDelegation(crypto),
        token: signMembership({ nodeId, expiresMs: time }, crypto, sampleIdentity(crypto, 1)),
      },
    },
    { name: 'ping', packet: { type: 'ping', token: 0x01020304 } },
    { name: 'ping with the largest token', packet: { type: 'ping', token: 0xffffffff } },
    { name: 'pong', packet: { type: 'pong', token: 0x01020304 } },
    {
      name: 'close',
      packet: { type: 'close', code: 'IDLE', reason: 'Nothing in common any more – så länge' },
    },
    { name: 'fragment', packet: { type: 'fragment', last: false, bytes: pattern(200) } },
    { name: 'last fragment', packet: { type: 'fragment', last: true, bytes: pattern(1) } },
    {
      name: 'piece',
      packet: { type: 'piece', object: 5, index: 0, count: 2, remainingMs: 300, bytes: pattern(200) },
    },
    {
      name: 'piece, the last of as many as there may be',
      packet: {
        ...{ type: 'piece', object: 0xffffffff, index: limits.maxPieces - 1, count: limits.maxPieces },
        ...{ remainingMs: limits.maxUrgentLifetimeMs, bytes: pattern(1) },
      },
    },
    { name: 'mark', packet: { type: 'mark', number: 0xffffffff } },
    {
      name: 'arrivals, of which one came before its time, and one not',
      packet: {
        ...{ type: 'arrivals', heldTenthsMs: 12 },
        frames: [
          { number: 7, atTenthsMs: 40_000 },
          { number: 8, atTenthsMs: 39_990 },
          { number: 10, atTenthsMs: 40_210 },
        ],
      },
    },
    { name: 'arrivals of nothing', packet: { type: 'arrivals', heldTenthsMs: 0, frames: [] } },
  ]
}

const ref = (index: number, sequenceNumber = 0) => ({ timestamp: time + index, sequenceNumber })
const head = { publisherId: sampleNodeId('b'), messageChainId: 'mK3vQ81x', ...ref(0, 70_000) }
const largestRef = { timestamp: 2 ** 48 - 1, sequenceNumber: 2 ** 32 - 1 }

function nodePackets(crypto: Crypto): SamplePacket[] {
  const fetch = {
    type: 'fetch',
    requestId: 7,
    streamPartId,
    publisherId: head.publisherId,
    messageChainId: head.messageChainId,
  } as const
  return [
    ...sampleBatches(crypto).map(({ name, batch }) => ({
      name: `data: ${name}`,
      packet: { type: 'data', batch } as const,
    })),
    { name: 'attach, nothing wanted', packet: { type: 'attach', streamPartId, sinceMs: 0, heads: [] } },
    {
      name: 'attach with heads',
      packet: {
        type: 'attach',
        streamPartId,
        sinceMs: 30_000,
        heads: [head, { ...head, messageChainId: '' }],
      },
    },
    ...memberships(crypto).map(({ name, membership }) => ({
      name: `attach ${name}`,
      packet: { type: 'attach', streamPartId, sinceMs: 0, heads: [], membership } as const,
    })),
    {
      name: 'guest attach, nothing wanted',
      packet: { type: 'guestAttach', streamPartId, sinceMs: 0, heads: [] },
    },
    {
      name: 'guest attach with a head',
      packet: { type: 'guestAttach', streamPartId, sinceMs: 30_000, heads: [head] },
    },
    ...memberships(crypto)
      .slice(0, 1)
      .map(({ name, membership }) => ({
        name: `guest attach ${name}`,
        packet: { type: 'guestAttach', streamPartId, sinceMs: 0, heads: [], membership } as const,
      })),
    ...detachReasons.map((reason) => ({
      name: `detach: ${reason}`,
      packet: { type: 'detach', streamPartId, reason } as const,
    })),
    { name: 'fetch', packet: { ...fetch, ranges: [{ after: ref(0, 1), upTo: ref(0, 2) }] } },
    {
      name: 'fetch of ranges that touch, and of one with the largest numbers',
      packet: {
        ...fetch,
        requestId: 0xffffffff,
        messageChainId: '',
        ranges: [
          { after: { timestamp: 0, sequenceNumber: 0 }, upTo: ref(0, 300) },
          { after: ref(0, 300), upTo: ref(5) },
          { after: ref(9), upTo: largestRef },
        ],
      },
    },
    { name: 'fetched, all of it', packet: { type: 'fetched', requestId: 7, complete: true } },
    { name: 'fetched, not all', packet: { type: 'fetched', requestId: 0xffffffff, complete: false } },
    {
      name: 'ask for the newest message of a key',
      packet: { type: 'askLatest', requestId: 7, streamPartId, tag: pattern(16) },
    },
    {
      name: 'ask for the newest message',
      packet: { type: 'askLatest', requestId: 0xffffffff, streamPartId, tag: undefined },
    },
    { name: 'latest, none', packet: { type: 'latest', requestId: 7, batch: undefined } },
    ...sampleBatches(crypto)
      .slice(0, 1)
      .map(({ name, batch }) => ({
        name: `latest: ${name}`,
        packet: { type: 'latest', requestId: 8, batch } as const,
      })),
    { name: 'heads, none', packet: { type: 'heads', streamPartId, heads: [] } },
    ...floodModes.map((mode, i) => ({
      name: `thin: ${mode}`,
      packet: {
        type: 'thin' as const,
        ...{ streamPartId, publisherId: head.publisherId, messageChainId: head.messageChainId, mode },
        ...{ alias: i === 0 ? 0 : 0xffffffff, forMs: i === 0 ? 0 : limits.maxThinMs },
      },
    })),
    {
      name: 'digest',
      packet: {
        type: 'digest',
        entries: [
          { alias: 3, isSenders: false, timestamp: time + 20, sequenceNumber: 0, check: 0x01020304 },
          { alias: 3, isSenders: false, timestamp: time, sequenceNumber: 0xffffffff, check: 0 },
          { alias: 0xffffffff, isSenders: true, ...largestRef, check: 0xffffffff },
          { alias: 0, isSenders: true, timestamp: 0, sequenceNumber: 0, check: 1 },
        ],
      },
    },
    {
      name: 'urgent digest',
      packet: {
        type: 'urgentDigest',
        entries: [
          { alias: 3, timestamp: time + 20, sequenceNumber: 1, check: 0x01020304 },
          { alias: 0xffffffff, ...largestRef, check: 0xffffffff },
          { alias: 0, timestamp: 0, sequenceNumber: 0, check: 0 },
        ],
      },
    },
    {
      name: 'urgent pull',
      packet: {
        type: 'urgentPull',
        entries: [
          { alias: 3, timestamp: time + 20, sequenceNumber: 1 },
          { alias: 0xffffffff, ...largestRef },
        ],
      },
    },
    {
      name: 'heads',
      packet: { type: 'heads', streamPartId, heads: [head, { ...head, messageChainId: '', ...largestRef }] },
    },
    ...sampleBatches(crypto)
      .slice(0, 1)
      .flatMap(({ name, batch }) => [
        {
          name: `traced, just published: ${name}`,
          packet: { type: 'traced', hops: 0, ageUs: 0, sentUs: 1_000_000, batch } as const,
        },
        {
          name: `traced, with the largest numbers: ${name}`,
          packet: {
            type: 'traced',
            hops: 0xffff,
            ageUs: Number.MAX_SAFE_INTEGER,
            sentUs: Number.MAX_SAFE_INTEGER,
            batch,
          } as const,
        },
      ]),
    { name: 'urgent', packet: { type: 'urgent', remainingMs: 300, batch: urgentSample(crypto).batch } },
    {
      name: 'urgent, too late',
      packet: { type: 'urgent', remainingMs: 0, batch: urgentSample(crypto).batch },
    },
    ...sampleDelegations(crypto).map(({ name, delegation }) => ({
      name: `delegation: ${name}`,
      packet: { type: 'delegation', delegation } as const,
    })),
    { name: 'ask for a delegation', packet: { type: 'askDelegation', ref: refOfBytes(pattern(16)) } },
    { name: 'clockAsk', packet: { type: 'clockAsk', token: 7 } },
    { name: 'clockTell', packet: { type: 'clockTell', token: 0xffffffff, atUs: 86_400_000_000 } },
  ]
}

/** Ways of taking part other than reading in the node's own name. */
function memberships(crypto: Crypto): { readonly name: string; readonly membership: Membership }[] {
  const { nodeId } = sampleIdentity(crypto, 1)
  const token = signMembership({ nodeId, expiresMs: time }, crypto, sampleIdentity(crypto))
  return [
    { name: 'of a node that only publishes', membership: { reads: false, token: undefined } },
    { name: 'in the name of a user', membership: { reads: true, token } },
    { name: 'in the name of a user who only publishes', membership: { reads: false, token } },
  ]
}

function trackerPackets(crypto: Crypto): SamplePacket[] {
  const webrtc = { kind: 'webrtc', text: '' }
  const contact = {
    addresses: [{ kind: 'websocket', text: 'wss://node.example' }, webrtc],
    dials: ['websocket', 'webrtc'],
  }
  const hidden = { addresses: [webrtc], dials: ['webrtc'] }
  const later = { addresses: [{ kind: 'x-later', text: 'somewhere else' }], dials: ['x-later'] }
  const status = { type: 'status', streamPartId, counter: 300, neighbours: [], failed: [] } as const
  const signal = { type: 'signal', peerId: sampleNodeId('d'), sessionId: 0xdeadbeef } as const
  return [
    { name: 'node info', packet: { type: 'nodeInfo', contact } },
    { name: 'node info, WebRTC only', packet: { type: 'nodeInfo', contact: hidden } },
    { name: 'node info, of a kind unknown here', packet: { type: 'nodeInfo', contact: later } },
    { name: 'status that joins', packet: { ...status, counter: 0 } },
    {
      name: 'status with neighbours',
      packet: {
        ...status,
        neighbours: [
          { nodeId: sampleNodeId('b'), rttMs: undefined },
          { nodeId: sampleNodeId('c'), rttMs: 0 },
          { nodeId: sampleNodeId('d'), rttMs: 123.4 },
        ],
      },
    },
    {
      name: 'status with failures',
      packet: {
        ...status,
        failed: failureReasons.map((reason, i) => ({ nodeId: sampleNodeId(String(i)), reason })),
      },
    },
    ...memberships(crypto).map(({ name, membership }) => ({
      name: `status ${name}`,
      packet: { ...status, membership },
    })),
    {
      name: 'full status',
      packet: {
        ...status,
        type: 'fullStatus',
        neighbours: [0, 1, 2, 3, 4, 5].map((transport) => ({
          nodeId: sampleNodeId(String(transport)),
          rttMs: 12.5,
          transport,
        })),
      },
    },
    {
      name: 'full status with the number of a later version',
      packet: {
        ...status,
        type: 'fullStatus',
        neighbours: [{ nodeId: sampleNodeId('b'), rttMs: undefined, transport: 255 }],
      },
    },
    {
      name: 'about a node',
      packet: { type: 'about', role: 'storage', version: '0.1.0', name: 'Attic, 2nd box' },
    },
    {
      name: 'about a node that says little',
      packet: { type: 'about', role: 'x-later', version: '', name: '' },
    },
    { name: 'leave', packet: { type: 'leave', streamPartId } },
    { name: 'redirect', packet: { type: 'redirect', streamPartId, leaderId: sampleNodeId('a') } },
    {
      name: 'instruction, no neighbours',
      packet: { type: 'instruction', streamPartId, counter: 1, neighbours: [] },
    },
    {
      name: 'instruction',
      packet: {
        type: 'instruction',
        streamPartId,
        counter: 2 ** 40,
        neighbours: [
          { nodeId: sampleNodeId('b'), contact },
          { nodeId: sampleNodeId('c'), contact: hidden },
        ],
      },
    },
    ...signalKinds.map((kind) => ({
      name: `signal: ${kind}`,
      packet: { ...signal, kind, payload: kind === 'reject' ? '' : `v=0\r\ns=${kind}\r\n` } as const,
    })),
    { name: 'offer taken', packet: { type: 'offerTaken', sessionId: 7, peerId: sampleNodeId('b') } },
    { name: 'ICE servers, none', packet: { type: 'iceServers', servers: [], ttlS: 0 } },
    {
      name: 'ICE servers',
      packet: {
        type: 'iceServers',
        servers: [
          { url: 'stun:stun.example:3478', username: '', credential: '' },
          { url: 'turn:turn.example:3478', username: '1750000000:ab', credential: 'c2VjcmV0' },
        ],
        ttlS: 3600,
      },
    },
    {
      name: 'tracker error',
      packet: { type: 'trackerError', code: 'NOT_ALLOWED', message: 'Not your neighbour' },
    },
    { name: 'storing', packet: { type: 'storing', streamPartId, storing: true } },
    { name: 'storing no longer', packet: { type: 'storing', streamPartId, storing: false } },
    { name: 'ask for the count', packet: { type: 'askCount', requestId: 9, streamPartId } },
    { name: 'count', packet: { type: 'count', requestId: 9, readers: 1_234, feeders: 2 } },
    {
      name: 'count, none and as many as there can be',
      packet: { type: 'count', requestId: 0xffffffff, readers: 0, feeders: 0xffffffff },
    },
    { name: 'find storage', packet: { type: 'findStorage', requestId: 9, streamPartId } },
    {
      name: 'storage nodes, none',
      packet: { type: 'storageNodes', requestId: 9, streamPartId, nodes: [] },
    },
    {
      name: 'storage nodes',
      packet: {
        type: 'storageNodes',
        requestId: 0xffffffff,
        streamPartId,
        nodes: [
          { nodeId: sampleNodeId('b'), contact },
          { nodeId: sampleNodeId('c'), contact: hidden },
        ],
      },
    },
  ]
}

/** One user's leave for the node of another key to ask a storage node, of a third. */
function sampleToken(crypto: Crypto): AccessToken {
  const [user, requester, storageNode] = [0, 1, 2].map((index) => sampleIdentity(crypto, index))
  if (!user || !requester || !storageNode) throw new Error('too few sample keys')
  const parties = { requesterId: requester.nodeId, storageNodeId: storageNode.nodeId }
  return signAccessToken({ ...parties, expiresMs: time + 60_000 }, crypto, user)
}

function directPackets(crypto: Crypto): SamplePacket[] {
  const token = sampleToken(crypto)
  const resend = {
    type: 'resend',
    requestId: 11,
    streamPartId,
    selection: { kind: 'last', count: 20 },
    publisherId: undefined,
    messageChainId: undefined,
    windowBytes: 256 * 1024,
    token: undefined,
  } as const
  const awaitStored = { type: 'awaitStored', requestId: 13, streamPartId, ...head } as const
  return [
    { name: 'resend of the last 20', packet: resend },
    {
      name: 'resend of the last of one publisher, with the largest numbers',
      packet: {
        ...resend,
        requestId: 0xffffffff,
        selection: { kind: 'last', count: limits.maxResendCount },
        publisherId: sampleNodeId('b'),
        windowBytes: 0xffffffff,
      },
    },
    {
      name: 'resend of a range of one chain, in the name of a user',
      packet: {
        ...resend,
        selection: { kind: 'range', from: ref(0), to: ref(9, 70_000) },
        publisherId: sampleNodeId('b'),
        messageChainId: 'mK3vQ81x',
        token,
      },
    },
    {
      name: 'resend of a single place, of the chain without a name',
      packet: {
        ...resend,
        selection: { kind: 'range', from: ref(0), to: ref(0) },
        publisherId: sampleNodeId('b'),
        messageChainId: '',
      },
    },
    {
      name: 'resend start of a range',
      packet: { type: 'resendStart', requestId: 11, from: ref(0), to: ref(9, 70_000), count: 0 },
    },
    {
      name: 'resend start of the last',
      packet: { type: 'resendStart', requestId: 11, from: ref(3), to: largestRef, count: 20 },
    },
    ...sampleBatches(crypto)
      .slice(0, 3)
      .map(({ name, batch }) => ({
        name: `resend data: ${name}`,
        packet: { type: 'resendData', requestId: 11, batch } as const,
      })),
    { name: 'resend more', packet: { type: 'resendMore', requestId: 11, bytes: 65_536 } },
    { name: 'resend end', packet: { type: 'resendEnd', requestId: 11, code: '', text: '' } },
    {
      name: 'resend end, refused',
      packet: {
        type: 'resendEnd',
        requestId: 11,
        code: 'NOT_PERMITTED',
        text: 'No subscription – ingen prenumeration',
      },
    },
    { name: 'resend cancel', packet: { type: 'resendCancel', requestId: 11 } },
    { name: 'await stored', packet: { ...awaitStored, token: undefined } },
    { name: 'await stored, in the name of a user', packet: { ...awaitStored, token } },
    { name: 'stored', packet: { type: 'stored', requestId: 13, code: '', text: '' } },
    {
      name: 'not stored',
      packet: { type: 'stored', requestId: 13, code: 'STORE_FAILED', text: 'The disk is full' },
    },
    { name: 'keep a card', packet: { type: 'keepCard', requestId: 14, card: sampleCard(crypto) } },
    {
      name: 'ask for cards',
      packet: { type: 'askCards', requestId: 15, userIds: [sampleNodeId('a'), sampleNodeId('b')] },
    },
    {
      name: 'ask for the newest message of every key',
      packet: {
        type: 'askTable',
        requestId: 16,
        streamPartId,
        tag: undefined,
        windowBytes: 65_536,
        token: undefined,
      },
    },
    {
      name: 'ask a storage node for the newest message of a key',
      packet: {
        type: 'askTable',
        requestId: 17,
        streamPartId,
        tag: pattern(16),
        windowBytes: 1,
        token: undefined,
      },
    },
    { name: 'no cards', packet: { type: 'cards', requestId: 15, cards: [] } },
    {
      name: 'cards',
      packet: {
        type: 'cards',
        requestId: 0xffffffff,
        cards: sampleCards(crypto).flatMap(({ card }, i) => (i === 1 ? [] : [card])),
      },
    },
  ]
}
