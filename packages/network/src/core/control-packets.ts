import {
  urgentChainPrefix,
  type ControlPacket,
  type DelegationRef,
  type Fetched,
  type GuestAttach,
  type NodeId,
  type Time,
} from '@runnel/protocol'
import type { Counters } from './counters.ts'
import type { DelegationBook } from './delegations/delegation-book.ts'
import { drop } from './drop.ts'
import type { FetchServer } from './gaps/fetch-server.ts'
import type { Fetches } from './gaps/fetches.ts'
import type { GapFiller } from './gaps/gap-filler.ts'
import type { HeadPursuer } from './gaps/head-pursuer.ts'
import type { Guests } from './guests/guests.ts'
import type { HostWatch } from './hosts/host-watch.ts'
import type { LatestServer } from './latest/latest-server.ts'
import type { Attaches } from './neighbours/attaches.ts'
import type { OverlayEffects } from './overlay-effects.ts'
import type { StreamPartMap } from './stream-part/stream-part-map.ts'
import type { Thinning } from './thin/thinning.ts'
import type { UrgentThinning } from './urgent/urgent-thinning.ts'

export interface ControlPacketsModules {
  readonly effects: Pick<OverlayEffects, 'sendControl' | 'latest' | 'dropped'>
  readonly counters: Counters
  readonly parts: StreamPartMap
  readonly delegations: DelegationBook
  readonly neighbourhood: { readonly attaches: Attaches }
  readonly guests: Guests | undefined
  readonly watch: HostWatch | undefined
  readonly fetches: Fetches
  readonly filler: GapFiller
  readonly pursuer: HeadPursuer
  readonly fetchServer: FetchServer
  readonly latestServer: LatestServer
  readonly thinning: Thinning
  readonly urgentThinning: UrgentThinning
  /** False while the link's queue is above its high mark. */
  canTakeMore(peerId: NodeId): boolean
}

/** Which room takes each control packet of a peer. */
export class ControlPackets {
  readonly #modules: ControlPacketsModules

  constructor(modules: ControlPacketsModules) {
    this.#modules = modules
  }

  /** A fault is that of the stream part that the packet names, if it is joined. */
  onControl(peerId: NodeId, packet: ControlPacket, time: Time): void {
    const { parts } = this.#modules
    const part = 'streamPartId' in packet ? parts.get(packet.streamPartId) : undefined
    if (part === undefined) this.#take(peerId, packet, time)
    else parts.within(part, () => this.#take(peerId, packet, time))
  }

  #take(peerId: NodeId, packet: ControlPacket, time: Time): void {
    const rooms = this.#modules
    const { attaches } = rooms.neighbourhood
    const { nowMs } = time
    switch (packet.type) {
      case 'attach':
        attaches.onAttach(peerId, packet, time)
        break
      case 'guestAttach':
        if (rooms.guests === undefined) this.#refuseGuest(peerId, packet)
        else rooms.guests.onAttach(peerId, packet, time)
        break
      case 'detach':
        rooms.guests?.onDetach(peerId, packet.streamPartId)
        attaches.onDetach(peerId, packet, nowMs)
        break
      case 'fetch':
        rooms.fetchServer.onFetch(peerId, packet, nowMs)
        break
      case 'fetched':
        this.#onFetched(peerId, packet, time)
        break
      case 'heads':
        rooms.parts.withPart(packet.streamPartId, (part) => rooms.pursuer.onHeads(part, peerId, packet, time))
        break
      case 'thin':
        if (packet.messageChainId.startsWith(urgentChainPrefix))
          rooms.urgentThinning.onThin(peerId, packet, nowMs)
        else rooms.thinning.onThin(peerId, packet, nowMs)
        break
      case 'urgentDigest':
        rooms.urgentThinning.onDigest(peerId, packet, time)
        break
      case 'urgentPull':
        rooms.urgentThinning.onPull(peerId, packet, nowMs)
        break
      case 'digest':
        rooms.thinning.onDigest(peerId, packet, time)
        break
      case 'askLatest':
        rooms.latestServer.onAsk(peerId, packet, nowMs)
        break
      case 'latest':
        rooms.effects.latest(peerId, packet)
        break
      case 'delegation':
        rooms.delegations.add(packet.delegation, peerId)
        break
      case 'askDelegation':
        this.#answer(peerId, packet.ref)
    }
  }

  /** A neighbour has forgotten a delegation. */
  #answer(peerId: NodeId, ref: DelegationRef): void {
    const { delegations, effects, canTakeMore } = this.#modules
    const delegation = delegations.get(ref)
    if (delegation !== undefined && canTakeMore(peerId))
      effects.sendControl(peerId, { type: 'delegation', delegation })
  }

  #onFetched(peerId: NodeId, { requestId, complete }: Fetched, time: Time): void {
    const { parts, fetches, filler, pursuer, counters, watch } = this.#modules
    const fetch = fetches.answered(requestId, peerId, time.nowMs)
    if (fetch === undefined) {
      counters['fetch.unexpected']++
      return
    }
    watch?.answered(fetch.streamPartId, peerId, fetch.sentMs)
    parts.withPart(fetch.streamPartId, (part) => {
      if (fetch.claim !== undefined) pursuer.fetched(part, fetch.claim, complete, time)
      else filler.fetched(part, fetch, complete, time.nowMs)
      filler.tick(part, time.nowMs)
    })
  }

  #refuseGuest(peerId: NodeId, { streamPartId }: GuestAttach): void {
    drop(this.#modules, 'guests.refused', `${peerId} in ${streamPartId}: this node serves none`)
    this.#modules.effects.sendControl(peerId, { type: 'detach', streamPartId, reason: 'not-wanted' })
  }
}
