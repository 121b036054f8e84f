import type { AccessToken, Crypto, Delegation, NodeId } from '@runnel/protocol'
import type { NetworkLimits } from '../limits.ts'
import { newCounters } from './counter-names.ts'
import { announcing } from './delegations/announcing.ts'
import { Authorship, type AuthorshipModules } from './delegations/authorship.ts'
import { DelegationBook } from './delegations/delegation-book.ts'
import { Flood } from './flood/flood.ts'
import { FetchServer } from './gaps/fetch-server.ts'
import { Fetches } from './gaps/fetches.ts'
import { GapFiller } from './gaps/gap-filler.ts'
import { HeadPursuer } from './gaps/head-pursuer.ts'
import type { Guests } from './guests/guests.ts'
import { LatestServer } from './latest/latest-server.ts'
import type { LightParts } from './light-parts.ts'
import { MemberCheck, type MemberCheckModules } from './neighbours/member-check.ts'
import { Neighbourhood } from './neighbours/neighbourhood.ts'
import { PeerTable } from './neighbours/peer-table.ts'
import type { OverlayEffects } from './overlay-effects.ts'
import { StreamPartMap, type StreamPartMapModules } from './stream-part/stream-part-map.ts'
import { Thinning } from './thin/thinning.ts'
import { UrgentFlood } from './urgent/urgent-flood.ts'
import { UrgentThinning } from './urgent/urgent-thinning.ts'

export interface OverlayModules
  extends Omit<AuthorshipModules, 'delegations'>, Omit<MemberCheckModules, 'effects'> {
  readonly effects: OverlayEffects
  /** For the references of delegations. */
  readonly crypto: Crypto
  /** The chain on which delegations have to be; undefined: any will do. */
  readonly chainId?: number | undefined
  /** Whether a delegation is signed by its user, as far as can be said without a chain, and within bounds. */
  verifyDelegation(delegation: Delegation): boolean
  /** In [0, 1). */
  random(): number
  /** In whose name the node acts, when that is not its own. */
  membershipToken(): AccessToken | undefined
  /** The link's smoothed round-trip time. */
  rttOf(peerId: NodeId): number | undefined
  /** By what the link goes: a number of `transportCode`. */
  transportOf(peerId: NodeId): number
  /** False while the link's queue is above its high mark. */
  canTakeMore(peerId: NodeId): boolean
  /** Bytes in that queue. */
  queuedBytes(peerId: NodeId): number
  /** Whether a neighbour may be asked to flood less to this node. */
  canThin(peerId: NodeId): boolean
  /** Whether a neighbour knows batches whose header is an alias. */
  canShorten(peerId: NodeId): boolean
  /** A light node has hosts in place of neighbours, and sends on nothing but what it publishes itself. */
  readonly isLight: boolean
  /** Whether it takes guests. */
  readonly servesGuests: boolean
  /** In a light node, and in one that takes guests. */
  readonly lightParts: LightParts | undefined
  /** The network of addresses that a peer's link comes from. */
  networkOf(peerId: NodeId): string
  /** Whether gaps that no neighbour can fill may be filled from an archive. */
  readonly hasArchive: boolean
}

export interface RoomsHooks extends StreamPartMapModules {
  /** A peer misbehaved, and more than one stream part may have something to do for it. */
  onMisbehaviour(): void
}

export type Rooms = ReturnType<typeof createRooms>

/** The rooms of a node's overlays, and what each is given of the others. */
export function createRooms(
  { self, limits }: { readonly self: NodeId; readonly limits: NetworkLimits },
  given: OverlayModules,
  hooks: RoomsHooks,
) {
  const { isLight, servesGuests, lightParts } = given
  const counters = newCounters()
  const parts = new StreamPartMap(hooks)
  /** Of the event that is handled. */
  const time = { nowMs: 0, wallMs: 0 }
  const delegations = new DelegationBook(limits, {
    crypto: given.crypto,
    chainId: given.chainId,
    verify: (delegation) => given.verifyDelegation(delegation),
  })
  const charged: OverlayEffects = {
    ...given.effects,
    sendData: (peerId, packet, _, way) => {
      guests?.sending(peerId, packet.length, time.nowMs)
      given.effects.sendData(peerId, packet, undefined, way)
    },
    sendUrgent: (peerId, message) => {
      guests?.sending(peerId, message.batchBytes.length, time.nowMs)
      given.effects.sendUrgent(peerId, message)
    },
  }
  const effects = announcing(charged, delegations)
  // The same object for all rooms: a copy with what each needs took 3 kB a node.
  const modules = {
    ...given,
    ...{ self, effects, counters, parts, time, delegations, relays: !isLight },
    memberCheck: new MemberCheck(limits, { ...given, effects }),
    peers: new PeerTable(limits, counters),
    fetches: new Fetches(limits, { effects, counters }),
    misbehaved(peerId: NodeId, detail: string, nowMs: number) {
      neighbourhood.links.misbehaved(peerId, detail, nowMs)
      hooks.onMisbehaviour()
    },
  }
  const neighbourhood = new Neighbourhood(limits, modules)
  const guests: Guests | undefined =
    servesGuests && lightParts
      ? new lightParts.Guests(limits, {
          ...modules,
          attach: (peerId, packet, at) => neighbourhood.attaches.onAttach(peerId, packet, at),
          dismiss: (peerId, reason, nowMs) => neighbourhood.dismissGuest(peerId, reason, nowMs),
        })
      : undefined
  const watch =
    isLight && lightParts
      ? new lightParts.HostWatch(limits, { ...modules, ageMs: (timestamp) => time.wallMs - timestamp })
      : undefined
  const thinning = new Thinning(limits, modules)
  const authorship = new Authorship(modules)
  const urgentThinning = new UrgentThinning(limits, {
    ...modules,
    isSeen: ({ part, id }, place) => urgent.isSeen(part, id, place),
  })
  const urgent: UrgentFlood = new UrgentFlood(limits, { ...modules, authorship, thinning: urgentThinning })
  return Object.assign(modules, {
    ...{ neighbourhood, guests, watch, thinning, authorship, urgentThinning, urgent },
    flood: new Flood(limits, { ...modules, thinning, watch, authorship }),
    filler: new GapFiller(limits, modules),
    pursuer: new HeadPursuer(limits, modules),
    fetchServer: new FetchServer(limits, { ...modules, thinning }),
    latestServer: new LatestServer(limits, modules),
  })
}
