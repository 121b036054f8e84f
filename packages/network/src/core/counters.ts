/**
 * What a node counts, and what each count means; also the help texts of the metrics and the rows of docs/metrics.md.
 * What is dropped, refused or forgotten has a counter.
 */
export const counterHelp = {
  'data.batches': 'Batches accepted, from others and from this process, with at least one new message',
  'data.messages': 'New messages in them',
  'data.forwarded': 'Copies of batches forwarded to neighbours',
  'data.duplicates': 'Messages received that were known already',
  'data.notJoined': 'Batches of a stream part that is not joined',
  'data.notAttached': 'Batches from a peer that is no neighbour in their stream part',
  'data.timestampAhead': 'Batches dropped because a timestamp was too far ahead of the clock',
  'data.tooOld': 'Batches dropped because they were too old to be live and filled no gap',
  'data.forgotten':
    'Batches dropped because their chain was forgotten and they may have been delivered before',
  'data.publisherDenied': 'Batches dropped because their publisher may not publish',
  'data.delegationUnknown': 'Batches dropped because their delegation is not known here; it was asked for',
  'data.delegationOtherChain': 'Batches dropped because their delegation is for another chain',
  'delegations.refused': 'Delegations of neighbours that were not taken',
  'data.forged': 'Batches dropped because their signature was not that of their publisher',
  'data.equivocations': 'Places of messages for which a publisher was shown to have signed two',
  'data.unsupported': 'Batches dropped because their version is unknown',
  'packets.unknown': 'Packets of a later version of the protocol, which were ignored',
  'published.batches': 'Batches published by this process',
  'published.messages': 'Messages published by this process',
  'held.batches': 'Batches held while their publisher was looked up',
  'held.duplicates': 'Batches not held because they were held already',
  'held.refused': 'Batches dropped because too many were held already',
  'held.unresolved': 'Held batches dropped because their publisher could not be looked up',
  'dedup.rangesDropped':
    'Missing ranges forgotten because there were too many in a stream part, or with their chain',
  'dedup.chainsDropped': 'Message chains forgotten because there were too many in a stream part',
  'dedup.publishersForgotten': 'Publishers of forgotten chains forgotten as well because there were too many',
  'gap.opened': 'Missing ranges that opened in a message chain',
  'gap.filledByPath': 'Missing ranges filled before any neighbour was asked',
  'gap.filledByNeighbour': 'Missing ranges filled after neighbours were asked',
  'gap.filledByArchive': 'Missing ranges filled after the archive was asked',
  'gap.lost': 'Missing ranges given up',
  'gap.archiveAsked': 'Requests to the archive for what no neighbour had',
  'fetch.sent': 'Fetches sent to neighbours',
  'fetch.timeouts': 'Fetches that were not answered in time',
  'fetch.answered': 'Fetches of neighbours answered',
  'fetch.batches': 'Batches sent in answer to fetches',
  'fetch.refused':
    'Fetches not answered because the peer is no neighbour, sent too many, or cannot take more',
  'fetch.unexpected': 'Ends of answers to fetches that were not sent',
  'latest.answered': 'Neighbours told the newest message of a key',
  'latest.refused': 'Neighbours not told it because the peer is none, asked too often, or cannot take more',
  'latest.unexpected': 'Answers on the newest message of a key that was not asked for',
  'latest.dropped': 'Newest messages of keys no longer kept because there were too many, or too many bytes',
  'heads.sent': 'Times that neighbours were told how far message chains were received',
  'heads.dropped': 'Heads ignored because too many chains were behind',
  'heads.unmet': 'Heads of neighbours that then did not have the messages',
  'archive.forged': 'Batches of the archive dropped because their signature was not that of their publisher',
  'recent.dropped': 'Batches no longer kept for replay because there were too many, or too many bytes',
  'replay.batches': 'Batches sent again to a newly attached neighbour',
  'replay.truncated': 'Replays whose oldest batches were left out',
  'replay.refused': 'Replays not sent because the last one to that neighbour was too recent',
  'attach.notJoined': 'Attaches refused because the stream part is not joined',
  'attach.refused': 'Attaches refused because the peer was refused shortly before',
  'attach.denied': 'Peers refused or detached because they may not read the stream, nor publish to it',
  'attach.full':
    'Attaches refused because too many neighbours waited for an instruction, too many feeders were attached, or too many waited for the registry',
  'attach.repeated': 'Attaches of a peer that was attached already',
  'detach.received': 'Detaches received',
  'instruction.handled': 'Instructions carried out',
  'instruction.stale': 'Instructions ignored because a newer one was known',
  'instruction.notJoined': 'Instructions ignored because their stream part is not joined',
  'peers.misbehaved': 'Peers disconnected because they sent what no correct node sends',
  'peers.bansDropped': 'Peers remembered as misbehaved that were forgotten early because there were too many',
  'links.failed': 'Links that could not be opened',
  'links.lost': 'Open links that ended',
  'send.refused': 'Packets not sent because the queue of their link was full',
  'status.sent': 'Statuses sent to trackers',
  'status.failuresDropped': 'Failed edges not reported because there were too many for one status',
  'tracker.failed': 'Connections to a tracker that could not be opened',
  'tracker.lost': 'Open connections to a tracker that ended',
  'tracker.refused': 'Error replies of trackers',
  'tracker.unexpected':
    'Instructions of a tracker that is not the one of their stream part, and answers to what it was not asked',
  'tracker.silent': 'Joins that a connected tracker did not answer in time',
  'guests.refused': 'Attaches of guests refused: no room, no permission, or a node that serves none',
  'guests.dismissed': 'Guests that had to go because others needed the room, or because they took too much',
  'guests.bytes': 'Bytes of messages sent to guests',
  'hosts.failed': 'Hosts that could not be reached, were lost, or serve no guests',
  'hosts.refused': 'Times that a host refused this node in a stream part',
  'hosts.withheld':
    'Messages that a host did not bring although it brought later ones, and denied when asked',
  'hosts.silent': 'Times that a host brought nothing while others did',
  'hosts.unwatched': 'Batches not watched until every host had brought them, because there were too many',
  'signal.refused': 'Signals not sent because no connected tracker could relay them',
  'signal.routesDropped': 'Return ways of signals forgotten because there were too many',
  'circuits.opened': 'Circuits carried between other nodes, since the start',
  'circuits.refused': 'Circuits refused for want of the node, or of room',
  'circuits.evicted': 'Circuits, and nodes that waited for them, ended to make room for other networks',
  'circuits.bytes': 'Bytes carried over circuits',
  'fault.streamPart': 'Faults in the work of a stream part, which was left and is joined again',
  'fault.connection': 'Faults in the work of a connection, which was closed',
  'fault.other': 'Faults in other work, which was abandoned',
  'listener.failed': 'Errors thrown by listeners of the application',
} as const

/** Current amounts; read together with the counters. */
export const gaugeHelp = {
  'links.open': 'Links to other nodes that are open',
  'guests.open': 'Nodes that are served as guests',
  'trackers.open': 'Connections to trackers that are open',
  'circuits.open': 'Circuits that are carried between other nodes',
  'circuits.waiting': 'Nodes that wait here for circuits',
  'trace.clocks': 'Links whose other end’s clock is known; 0 in a node that does not measure',
} as const

export type CounterName = keyof typeof counterHelp
export type GaugeName = keyof typeof gaugeHelp
export type Counters = Record<CounterName, number>

export function newCounters(): Counters {
  return Object.fromEntries(Object.keys(counterHelp).map((name) => [name, 0])) as Counters
}
