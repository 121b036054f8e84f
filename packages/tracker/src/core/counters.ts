/** What a tracker counts, and what each count means; also the help texts of the metrics. */
export const counterHelp = {
  joins: 'Nodes that joined a stream part',
  leaves: 'Nodes that said they leave a stream part',
  disconnected: 'Nodes taken out of a stream part because their connection was closed',
  unconfirmed: 'Nodes taken out of a stream part they no longer reported after connecting again',
  statuses: 'Statuses handled',
  staleStatuses: 'Statuses about an instruction older than the newest',
  malformedStatuses: 'Statuses that no correct node sends',
  packetsUnknown: 'Packets of a later version of the protocol, which were ignored',
  instructions: 'Instructions sent',
  instructionsResent: 'Instructions sent again because no status had answered them',
  resendsGivenUp: 'Instructions that no status ever answered',
  adoptions: 'Overlays taken over from statuses',
  adoptedEdges: 'Edges taken over from statuses',
  claimsIgnored: 'Nodes that reported neighbours of another overlay above the limit, and joined this one',
  handedOver: 'Nodes sent to an earlier tracker that leads their stream part again',
  stalls: 'Stalls of this process, after each of which the tracker began anew',
  streamPartFaults: 'Faults in the work of a stream part, which is built anew from what its nodes said',
  connectionFaults: 'Faults in the work of a node’s connection, which was closed',
  otherFaults: 'Faults in other work, which was abandoned',
  replicasIgnored: 'Replicas of overlays that came when the overlay was taken over already',
  edgesFailed: 'Edges replaced because an end reported that they failed',
  edgeFailuresIgnored: 'Reports of failed edges above the limit',
  edgesExchanged: 'Edges replaced by nearer ones, or by random ones where a node had too few',
  exchangesRefused:
    'Exchanges of edges not made because they would have cut an overlay in two, or made a node depend on one other place',
  rttsDisputed: 'Round-trip times reported that the other end contradicts',
  avoidedPairsDropped: 'Avoided pairs forgotten early because there were too many',
  signalPermitsDropped: 'Edges forgotten early for signalling because there were too many',
  signalsRelayed: 'Signals relayed',
  signalsRefused: 'Signals above the limit',
  signalsToUnknown: 'Signals for a node that is not connected',
  signalsToStrangers: 'Signals for a node that the sender was not told to connect to',
  openOffersLeft: 'Offers that nodes left for a neighbour that they were yet to be told of',
  openOffersTaken: 'Such offers given to a new neighbour',
  openOffersDropped:
    'Such offers that went to nobody: withdrawn, replaced, too old or too many, or their node was gone',
  openSignalsIgnored:
    'Signals of a node to itself that belong to no such offer, or were too many or too late',
  storageOffers: 'Nodes that said they store a stream part',
  storageOffersRefused: 'Offers to store a stream part from a node that is not in it',
  storageQuestions: 'Questions for storage nodes answered',
  storageQuestionsRefused: 'Questions for storage nodes above the limit',
  countQuestions: 'Questions for how many nodes are in a stream part answered',
  countQuestionsRefused: 'Such questions above the limit, or from a node that is not in the stream part',
  storagePermitsDropped:
    'Pairs of a storage node and who asked for it forgotten early because there were too many',
  streamLookupsFailed: 'Streams that could not be looked up in the registry',
  streamsMissing: 'Stream parts given up, and joins refused, because the registry has no such stream',
  viewsRefused: 'Requests for lists, overlays and predictions refused because their network asked too often',
  predictionsRefused: 'Predictions of delays not made because too many were waiting',
  membersDenied:
    'Nodes refused in a stream part, or taken out, because they may not read it, nor publish to it as what they say they are',
  streamPartsRefused: 'Joins refused because there were too many stream parts',
  streamPartsEvicted:
    'Stream parts given up because there were too many, and most of them were kept alive by their network',
  nodesRefused: 'Nodes refused because there were too many',
  nodesEvicted: 'Nodes disconnected because there were too many, and most of them came from their network',
  socketsCut: 'Sockets closed because there were too many, and most of them came from their network',
  nodesWithoutInfo: 'Nodes disconnected because they did not say in time how they are reached',
  nodesIdle: 'Nodes disconnected because they were in no stream part for long',
  nodesNotListed: 'Nodes refused because the private network does not list them',
  nodesExpelled: 'Nodes taken out of all stream parts because the private network no longer lists them',
  floodsRefused: 'Nodes disconnected because they sent too much',
  slowNodes: 'Nodes disconnected because they did not read what was sent',
  errors: 'Error replies sent',
} as const

export type CounterName = keyof typeof counterHelp

/** The counts of one tracker since its start. */
export class Counters {
  readonly #counts = new Map<CounterName, number>()

  count(name: CounterName, by = 1): void {
    this.#counts.set(name, this.get(name) + by)
  }

  get(name: CounterName): number {
    return this.#counts.get(name) ?? 0
  }
}
