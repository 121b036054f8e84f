/** What a tracker counts of its cluster, and what each count means; also the help texts of the metrics. */
export const clusterCounterHelp = {
  strangersRefused: 'Connections refused because the peer did not prove the key of a registered tracker',
  discoveriesFailed: 'Trackers whose address in the cluster could not be learnt from their URL',
  dialsFailed: 'Trackers that could not be dialled in the cluster',
  recordsWritten: 'Records of this tracker written to the cluster',
  writesFailed: 'Records that no other tracker accepted',
  writesDelayed: 'Overlays whose replication was delayed because there were too many',
  recordsAccepted: 'Records of other trackers accepted',
  recordsMalformed: 'Records refused because they are malformed, or under the wrong key',
  recordsUnknown: 'Records of a later version, which were ignored',
  recordsForged: 'Records refused because their writer did not sign them',
  recordsOfStrangers: 'Records refused because their writer is not registered',
  recordsStale: 'Records refused because a newer one is known, or because they have expired',
  recordsTooFar: 'Records refused because their date or expiry is too far ahead',
  recordsTooMany: 'Records refused because their writer has as many as it may',
  recordsTooLarge: 'Records refused because they are too large',
  storeEvictions: 'Entries of the cluster’s store dropped because it was full',
  leadsDisputed: 'Claims of other trackers to lead a stream part that this one leads',
  replicasTruncated: 'Overlays not replicated in full because too many nodes fell into one record',
  replicasFound: 'Overlays continued from a replica',
  replicasMissing: 'Overlays taken over without a replica',
  handovers: 'Stream parts handed over because an earlier tracker is back',
  redirects: 'Times that a node was told which tracker leads',
  circuitsOpened: 'Circuits that nodes opened over this tracker',
  circuitsFailed: 'Circuits over this tracker that could not be opened',
  circuitsRefused:
    'Circuits of other trackers refused because their path is invalid or its next tracker unreachable',
  faults: 'Faults in the work of one node, stream part or record, which was abandoned',
  lookupsRefused: 'Streams not looked up in the registry because too many look-ups were under way',
  lookupsFailed: 'Streams about which the registry gave no answer',
} as const

export type ClusterCounterName = keyof typeof clusterCounterHelp

/** The counts of one tracker's part in the cluster, since its start. */
export class ClusterCounters {
  readonly #counts = new Map<ClusterCounterName, number>()

  count(name: ClusterCounterName, by = 1): void {
    this.#counts.set(name, this.get(name) + by)
  }

  get(name: ClusterCounterName): number {
    return this.#counts.get(name) ?? 0
  }
}
