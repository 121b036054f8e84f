import { errorFactory, type ErrorTable } from '@runnel/protocol'

/** Error codes of `@runnel/tracker`: of its factory, of error replies to nodes, and of connections it closes. */
export const trackerErrors = {
  INVALID_TRACKER_OPTIONS: {
    summary: 'The tracker cannot be set up with these options',
    remedy: 'Correct the option that the message names.',
  },
  TRACKER_STOPPED: {
    summary: 'A stopped tracker cannot be started again',
    remedy: 'Create another one.',
  },
  NOT_A_NODE: {
    summary: 'Only nodes may talk to a tracker',
    remedy: 'Connect with the role of a node.',
  },
  NOT_FOR_TRACKERS: {
    summary: 'A packet that trackers do not accept',
    remedy: 'The node is broken or hostile. Its connection was closed.',
  },
  NODE_INFO_MISSING: {
    summary: 'A node must send its node info before anything else',
    remedy: 'After the handshake, send the node info first.',
  },
  NODE_IDLE: {
    summary: 'The node has not been in any stream part for a while',
    remedy: 'Connect again when there is a stream part to join.',
  },
  INVALID_STATUS: {
    summary: 'A status that no correct node sends',
    remedy: 'The node is broken or hostile. Its connection was closed.',
  },
  TOO_MANY_NODES: {
    summary: 'The tracker has reached its limit of nodes',
    remedy: 'Use another tracker, or raise maxNodes.',
  },
  NOT_PERMITTED: {
    summary: 'The user of the node may not take part in the stream part in this role',
    remedy:
      'Ask the owner of the stream for the subscribe permission; to feed the stream, ask for the publish permission.',
  },
  REGISTRY_SILENT: {
    summary: 'The registry has not answered whether the node may take part',
    remedy: 'Wait: the node asks again.',
  },
  TOO_MANY_STREAM_PARTS: {
    summary: 'The limit of stream parts is reached',
    remedy: 'Leave some, use another tracker, or raise maxStreamParts or maxStreamPartsPerNode.',
  },
  STREAM_UNKNOWN: {
    summary: 'The registry of the network has no such stream',
    remedy: 'Create the stream, or use the tracker of its network.',
  },
  TOO_MANY_PACKETS: {
    summary: 'The node sends more than the tracker accepts',
    remedy: "Connect again later. The tracker's operator sets the limits.",
  },
  SIGNAL_RATE: {
    summary: 'The node signals more than the tracker relays',
    remedy: 'Try again later.',
  },
  SIGNAL_TARGET_UNKNOWN: {
    summary: 'The target of a signal is not connected to this tracker',
    remedy: 'Nothing to do: the edge is replaced once it is reported as failed.',
  },
  SIGNAL_NOT_ALLOWED: {
    summary: 'The target of a signal is neither a neighbour nor a storage node that the sender asked for',
    remedy: 'Signal only to nodes that the tracker said to connect to.',
  },
  STORING_NOT_JOINED: {
    summary: 'Only a node in a stream part may announce that it stores it',
    remedy: 'Send a status of the stream part first.',
  },
  STORAGE_RATE: {
    summary: 'The node asks for storage nodes more often than the tracker answers',
    remedy: 'Try again later.',
  },
  COUNT_NOT_JOINED: {
    summary: 'Only a node in a stream part may ask how many nodes are in it',
    remedy: 'Send a status of the stream part first.',
  },
  COUNT_RATE: {
    summary: 'The node asks how many nodes are in stream parts more often than the tracker answers',
    remedy: 'Try again later.',
  },
  TRACKER_FAULT: {
    summary: 'The tracker had an internal fault',
    remedy:
      'Nothing to do: the node connects again. The log of the tracker describes the fault: please report it.',
  },
  TRACKER_STALLED: {
    summary: 'The tracker stalled for a while and starts over',
    remedy:
      'Nothing to do: nodes connect again, or use another tracker. If it happens often, give the tracker a CPU of its own.',
  },
  REPLACED: {
    summary: 'The node opened a second connection',
    remedy: 'Nothing to do if that was you. Otherwise somebody else has your key.',
  },
  CLUSTER_RECORD_MALFORMED: {
    summary: 'Bytes that are not a record of the tracker cluster',
    remedy: 'The tracker that sent it is broken or hostile. The record is ignored.',
  },
  CLUSTER_RECORD_UNKNOWN: {
    summary: 'A record of the tracker cluster has a later version',
    remedy: 'Nothing to do: the record is left as it is, for trackers of that version.',
  },
  CLUSTER_RECORD_FORGED: {
    summary: 'A record of the tracker cluster is not signed by its writer',
    remedy: 'Somebody writes in the name of another tracker. The record is ignored.',
  },
  CLUSTER_START_FAILED: {
    summary: 'The tracker cannot listen for other trackers',
    remedy: 'Choose another --cluster-port or --cluster-host. Nodes are served all the same.',
  },
  CLUSTER_PEER_UNREACHABLE: {
    summary: 'Another tracker of the cluster cannot be reached',
    remedy:
      'Check that it is running, that its URL in the registry is correct, and that its cluster port is reachable.',
  },
  CLUSTER_PEER_WRONG_KEY: {
    summary: 'The peer at the URL of a tracker does not have the registered key',
    remedy: 'Ask the owner of the registry to correct the id or the URL of the tracker.',
  },
  CIRCUIT_UNAVAILABLE: {
    summary: 'The tracker at the other end of a circuit cannot be reached',
    remedy: 'Nothing to do: the node asks this tracker again.',
  },
  SLOW_NODE: {
    summary: 'The node does not read what the tracker sends',
    remedy: 'It is overloaded, or its network is too slow. It may connect again.',
  },
} as const satisfies ErrorTable

export type TrackerErrorCode = keyof typeof trackerErrors
export const trackerError = errorFactory(trackerErrors)
