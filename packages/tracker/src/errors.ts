import { errorFactory, type ErrorTable } from '@runnel/protocol'

/** Error codes of `@runnel/tracker`: of its factory, of error replies to nodes, and of connections it closes. */
export const trackerErrors = {
  INVALID_TRACKER_OPTIONS: {
    summary: 'The tracker cannot be set up with these options',
    remedy: 'Correct the option that the message names.',
  },
  TRACKER_STOPPED: {
    summary: 'A tracker that was stopped does not start again',
    remedy: 'Create another one.',
  },
  NOT_A_NODE: {
    summary: 'Only nodes may talk to a tracker',
    remedy: 'Connect with the role of a node.',
  },
  NOT_FOR_TRACKERS: {
    summary: 'A packet that trackers do not accept',
    remedy: 'The node is broken or hostile; its connection was closed.',
  },
  NODE_INFO_MISSING: {
    summary: 'A node has to send its node info before anything else',
    remedy: 'Send a node info first after the handshake.',
  },
  NODE_IDLE: {
    summary: 'The node was in no stream part for a while',
    remedy: 'Connect again when there is a stream part to join.',
  },
  INVALID_STATUS: {
    summary: 'A status that no correct node sends',
    remedy: 'The node is broken or hostile; its connection was closed.',
  },
  TOO_MANY_NODES: {
    summary: 'The tracker has reached its limit of nodes',
    remedy: 'Use another tracker, or raise maxNodes.',
  },
  NOT_PERMITTED: {
    summary: 'The user of the node may not take part in the stream part in this role',
    remedy: 'Ask the owner of the stream for the subscribe permission, or the publish permission to feed it.',
  },
  REGISTRY_SILENT: {
    summary: 'The registry does not answer whether the node may take part',
    remedy: 'Wait: the node asks again.',
  },
  TOO_MANY_STREAM_PARTS: {
    summary: 'The limit of stream parts is reached',
    remedy: 'Leave others, use another tracker, or raise maxStreamParts or maxStreamPartsPerNode.',
  },
  STREAM_UNKNOWN: {
    summary: 'The registry of the network has no such stream',
    remedy: 'Create the stream, or use the tracker of its network.',
  },
  TOO_MANY_PACKETS: {
    summary: 'The node sends more than the tracker takes',
    remedy: 'Connect again later; its operator sets the limits.',
  },
  SIGNAL_RATE: {
    summary: 'The node signals more than the tracker relays',
    remedy: 'Try again later.',
  },
  SIGNAL_TARGET_UNKNOWN: {
    summary: 'The target of a signal is not connected to this tracker',
    remedy: 'Nothing: the edge is replaced once it is reported as failed.',
  },
  SIGNAL_NOT_ALLOWED: {
    summary: 'The target of a signal is neither a neighbour nor a storage node that was asked for',
    remedy: 'Signal only to nodes the tracker said to connect to.',
  },
  STORING_NOT_JOINED: {
    summary: 'Only a node in a stream part may say that it stores it',
    remedy: 'Send a status of the stream part first.',
  },
  STORAGE_RATE: {
    summary: 'The node asks for storage nodes more often than the tracker answers',
    remedy: 'Try again later.',
  },
  COUNT_NOT_JOINED: {
    summary: 'Only a node in a stream part is told how many are in it',
    remedy: 'Send a status of the stream part first.',
  },
  COUNT_RATE: {
    summary: 'The node asks how many are in stream parts more often than the tracker answers',
    remedy: 'Try again later.',
  },
  TRACKER_FAULT: {
    summary: 'The tracker had a fault',
    remedy: 'Nothing: the node connects again. The log of the tracker says what it was: report it.',
  },
  TRACKER_STALLED: {
    summary: 'The tracker stalled for a while and begins anew',
    remedy:
      'Nothing: nodes connect again, or use another tracker. Give the tracker a CPU of its own if it happens often.',
  },
  REPLACED: {
    summary: 'The node has opened a second connection',
    remedy: 'Nothing, if that was you; otherwise somebody else has your key.',
  },
  CLUSTER_RECORD_MALFORMED: {
    summary: 'Bytes that are no record of the trackers’ cluster',
    remedy: 'The tracker that sent it is broken or hostile; the record is ignored.',
  },
  CLUSTER_RECORD_UNKNOWN: {
    summary: 'A record of the trackers’ cluster of a later version',
    remedy: 'The record is left alone. A tracker of that version reads it.',
  },
  CLUSTER_RECORD_FORGED: {
    summary: 'A record of the trackers’ cluster that its writer did not sign',
    remedy: 'Somebody writes in the name of another tracker; the record is ignored.',
  },
  CLUSTER_START_FAILED: {
    summary: 'The tracker cannot listen for other trackers',
    remedy: 'Choose another --cluster-port or --cluster-host; nodes are served all the same.',
  },
  CLUSTER_PEER_UNREACHABLE: {
    summary: 'Another tracker cannot be reached in the cluster',
    remedy:
      'Check that it runs, that its URL in the registry is right and that its cluster port can be reached.',
  },
  CLUSTER_PEER_WRONG_KEY: {
    summary: 'The peer at a tracker’s URL does not have its registered key',
    remedy: 'Have the registry’s owner correct the id or the URL of the tracker.',
  },
  CIRCUIT_UNAVAILABLE: {
    summary: 'There is no way to the tracker that a circuit should lead to',
    remedy: 'Nothing: the node asks this tracker again.',
  },
  SLOW_NODE: {
    summary: 'The node does not read what the tracker sends',
    remedy: 'It is overloaded or its network is too slow; it may connect again.',
  },
} as const satisfies ErrorTable

export type TrackerErrorCode = keyof typeof trackerErrors
export const trackerError = errorFactory(trackerErrors)
