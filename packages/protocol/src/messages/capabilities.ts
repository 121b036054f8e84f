/**
 * The versions of the protocol that are spoken here; a hello says them. 3 is protocol 1.0: 1 and 2 came before it. What a later
 * version adds without breaking this one are packets and capabilities that may be unknown.
 */
export const protocolVersions: VersionRange = { oldest: 3, newest: 3 }

export interface VersionRange {
  readonly oldest: number
  readonly newest: number
}

/** What a side can do in addition to its version: of later versions, or of somebody's own. */
export interface Capability {
  /** Of printable ASCII. */
  readonly name: string
  /** A side without it is refused. */
  readonly required: boolean
}

/** The capability of a side that shows for whom it acts: its credential comes with its proof. */
export const actsForCapability = 'acts-for'

/** The capability of nodes and trackers that know `about` and `fullStatus`. */
export const reportsCapability = 'reports'

/** The capability of trackers that answer `askCount`, and of nodes that ask. */
export const countsCapability = 'counts'

/** The capability of trackers that keep an offer for a neighbour that is yet to be chosen, and of nodes that leave one: see `Signal`. */
export const openOffersCapability = 'open-offers'

/** The capability of nodes that know `askLatest` and `latest`; of storage nodes also of `askTable`. */
export const latestCapability = 'latest'

/** The capability of nodes that know `thin`, `digest`, and of urgent messages `urgentDigest` and `urgentPull`: neighbours may ask them to flood less. */
export const thinCapability = 'thin'

/** The capability of a host, which serves guests, and of light nodes: `guestAttach` goes over links where both ends have it. */
export const guestsCapability = 'guests'

/** The capability of nodes that know urgent messages: `urgent`, `piece`, `mark` and `arrivals` go over links where both ends have it. */
export const urgentCapability = 'urgent'

/** The capability of nodes that take packets by a lane that may lose them and changes their order, where a link has one. */
export const lossyCapability = 'lossy'

/** The capability of nodes that know batches with an alias in place of their header. */
export const shortCapability = 'short'
