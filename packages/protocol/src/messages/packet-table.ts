import type { BodyCodec } from './codecs/body-codec.ts'
import { askCards, cards, keepCard } from './codecs/cards.ts'
import { about, nodeInfo } from './codecs/contact.ts'
import { askDelegation, credential, delegation } from './codecs/delegations.ts'
import { askCount, count } from './codecs/count.ts'
import { fetch, fetched, heads } from './codecs/gaps.ts'
import { digest, thin } from './codecs/thin.ts'
import { askLatest, askTable, latest } from './codecs/latest.ts'
import { close, fragment, hello, ping, pong, proof } from './codecs/link.ts'
import { attach, data, detach, guestAttach } from './codecs/node.ts'
import { fullStatus, instruction, leave, redirect, status } from './codecs/overlay.ts'
import { iceServers, offerTaken, signal, trackerError } from './codecs/signalling.ts'
import {
  awaitStored,
  findStorage,
  resend,
  resendCancel,
  resendData,
  resendEnd,
  resendMore,
  resendStart,
  storageNodes,
  stored,
  storing,
} from './codecs/storage.ts'
import { clockAsk, clockTell, traced } from './codecs/trace.ts'
import {
  arrivals,
  mark,
  piece,
  urgent,
  urgentDigest,
  urgentPacketNumber,
  urgentPull,
} from './codecs/urgent.ts'

/**
 * Who sends a packet to whom: either side of a link, to keep it going; nodes about a stream part, their clocks, or who signs batches; a node
 * and a storage node; a node and its tracker, or through it another node.
 */
export type PacketScope =
  | 'link'
  | 'neighbours'
  | 'clocks'
  | 'delegations'
  | 'toStorage'
  | 'fromStorage'
  | 'toTracker'
  | 'fromTracker'
  | 'throughTracker'

interface PacketKind {
  /** The first byte of the packet. */
  readonly number: number
  readonly scope: PacketScope
  /** Of the wire protocol, in which it came. */
  readonly since: '1.0' | '1.1'
  readonly codec: BodyCodec<{ readonly type: string }>
}

const since = '1.0'

/** All packets there are. A new one is its codec, a line here, and a handler where packets of its scope are taken. */
export const packetTable = {
  hello: { number: 0x01, scope: 'link', since, codec: hello },
  proof: { number: 0x02, scope: 'link', since, codec: proof },
  ping: { number: 0x03, scope: 'link', since, codec: ping },
  pong: { number: 0x04, scope: 'link', since, codec: pong },
  close: { number: 0x05, scope: 'link', since, codec: close },
  fragment: { number: 0x06, scope: 'link', since, codec: fragment },
  credential: { number: 0x07, scope: 'link', since: '1.1', codec: credential },
  piece: { number: 0x08, scope: 'link', since: '1.1', codec: piece },
  data: { number: 0x10, scope: 'neighbours', since, codec: data },
  attach: { number: 0x11, scope: 'neighbours', since, codec: attach },
  detach: { number: 0x12, scope: 'neighbours', since, codec: detach },
  fetch: { number: 0x13, scope: 'neighbours', since, codec: fetch },
  fetched: { number: 0x14, scope: 'neighbours', since, codec: fetched },
  heads: { number: 0x15, scope: 'neighbours', since, codec: heads },
  traced: { number: 0x16, scope: 'neighbours', since, codec: traced },
  clockAsk: { number: 0x17, scope: 'clocks', since, codec: clockAsk },
  clockTell: { number: 0x18, scope: 'clocks', since, codec: clockTell },
  thin: { number: 0x19, scope: 'neighbours', since: '1.1', codec: thin },
  delegation: { number: 0x1a, scope: 'delegations', since: '1.1', codec: delegation },
  askDelegation: { number: 0x1b, scope: 'delegations', since: '1.1', codec: askDelegation },
  askLatest: { number: 0x1c, scope: 'neighbours', since: '1.1', codec: askLatest },
  latest: { number: 0x1d, scope: 'neighbours', since: '1.1', codec: latest },
  guestAttach: { number: 0x1e, scope: 'neighbours', since: '1.1', codec: guestAttach },
  digest: { number: 0x1f, scope: 'neighbours', since: '1.1', codec: digest },
  nodeInfo: { number: 0x20, scope: 'toTracker', since, codec: nodeInfo },
  status: { number: 0x21, scope: 'toTracker', since, codec: status },
  leave: { number: 0x22, scope: 'toTracker', since, codec: leave },
  instruction: { number: 0x23, scope: 'fromTracker', since, codec: instruction },
  signal: { number: 0x24, scope: 'throughTracker', since, codec: signal },
  iceServers: { number: 0x25, scope: 'fromTracker', since, codec: iceServers },
  trackerError: { number: 0x26, scope: 'fromTracker', since, codec: trackerError },
  storing: { number: 0x27, scope: 'toTracker', since, codec: storing },
  findStorage: { number: 0x28, scope: 'toTracker', since, codec: findStorage },
  storageNodes: { number: 0x29, scope: 'fromTracker', since, codec: storageNodes },
  redirect: { number: 0x2a, scope: 'fromTracker', since, codec: redirect },
  about: { number: 0x2b, scope: 'toTracker', since: '1.1', codec: about },
  fullStatus: { number: 0x2c, scope: 'toTracker', since: '1.1', codec: fullStatus },
  askCount: { number: 0x2d, scope: 'toTracker', since: '1.1', codec: askCount },
  count: { number: 0x2e, scope: 'fromTracker', since: '1.1', codec: count },
  offerTaken: { number: 0x2f, scope: 'fromTracker', since: '1.1', codec: offerTaken },
  resend: { number: 0x30, scope: 'toStorage', since, codec: resend },
  resendStart: { number: 0x31, scope: 'fromStorage', since, codec: resendStart },
  resendData: { number: 0x32, scope: 'fromStorage', since, codec: resendData },
  resendMore: { number: 0x33, scope: 'toStorage', since, codec: resendMore },
  resendEnd: { number: 0x34, scope: 'fromStorage', since, codec: resendEnd },
  resendCancel: { number: 0x35, scope: 'toStorage', since, codec: resendCancel },
  awaitStored: { number: 0x36, scope: 'toStorage', since, codec: awaitStored },
  stored: { number: 0x37, scope: 'fromStorage', since, codec: stored },
  keepCard: { number: 0x38, scope: 'toStorage', since: '1.1', codec: keepCard },
  askCards: { number: 0x39, scope: 'toStorage', since: '1.1', codec: askCards },
  cards: { number: 0x3a, scope: 'fromStorage', since: '1.1', codec: cards },
  askTable: { number: 0x3b, scope: 'toStorage', since: '1.1', codec: askTable },
  urgent: { number: urgentPacketNumber, scope: 'neighbours', since: '1.1', codec: urgent },
  mark: { number: 0x41, scope: 'link', since: '1.1', codec: mark },
  arrivals: { number: 0x42, scope: 'link', since: '1.1', codec: arrivals },
  urgentDigest: { number: 0x43, scope: 'neighbours', since: '1.1', codec: urgentDigest },
  urgentPull: { number: 0x44, scope: 'neighbours', since: '1.1', codec: urgentPull },
} as const satisfies Readonly<Record<string, PacketKind>>

type Table = typeof packetTable
type Name = keyof Table
type BodyOf<N extends Name> = Table[N]['codec'] extends BodyCodec<infer P> ? P : never

/** The packets of some scopes. */
export type PacketOf<S extends PacketScope> = {
  [N in Name]: Table[N]['scope'] extends S ? BodyOf<N> : never
}[Name]

export type Packet = PacketOf<PacketScope>
/** What a node asks of a storage node. */
export type StorageRequest = PacketOf<'toStorage'>
/** What a storage node answers. */
export type StorageAnswer = PacketOf<'fromStorage'>
/** Between two nodes on a link of their own, whether they are neighbours or not. */
export type DirectPacket = StorageRequest | StorageAnswer
/** What a node sends to a tracker. */
export type NodeToTracker = PacketOf<'toTracker' | 'throughTracker'>
/** What a tracker sends to a node. */
export type TrackerToNode = PacketOf<'fromTracker' | 'throughTracker'>
/** What nodes say to each other about stream parts and delegations, besides messages. */
export type ControlPacket = Exclude<
  PacketOf<'neighbours' | 'delegations'>,
  { readonly type: 'data' | 'traced' | 'urgent' }
>

const names = Object.keys(packetTable) as Name[]

/** The first byte of each packet. */
export const PacketType = Object.fromEntries(names.map((name) => [name, packetTable[name].number])) as {
  readonly [N in Name]: Table[N]['number']
}
export type PacketTypeNumber = Table[Name]['number']

const kinds: (PacketKind | undefined)[] = []
for (const name of names) kinds[packetTable[name].number] = packetTable[name]

/** What packets with this first byte are; undefined of a later version, which whoever gets one counts and leaves. */
export function packetKind(type: number): PacketKind | undefined {
  return kinds[type]
}
