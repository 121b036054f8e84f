import { errorFactory, type ErrorTable } from '@runnel/protocol'

/** Error codes of `@runnel/tracker`: of its factory, of error replies to nodes, and of connections it closes. */
export const trackerErrors = {
  INVALID_TRACKER_OPTIONS: {
    summary: 'The tracker cannot be set up like that',
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
    summary: 'A packet that trackers do not take',
    remedy: 'The node is broken or hostile; its connection was closed.',
  },
  NODE_INFO_MISSING: {
    summary: 'A node has to say how it is reached before anything else',
    remedy: 'Send a node info first after the handshake.',
  },
  INVALID_STATUS: {
    summary: 'A status no honest node sends',
    remedy: 'The node is broken or hostile; its connection was closed.',
  },
  TOO_MANY_NODES: {
    summary: 'The tracker has as many nodes as it takes',
    remedy: 'Use another tracker, or raise maxNodes.',
  },
  TOO_MANY_STREAM_PARTS: {
    summary: 'The stream part is one too many',
    remedy: 'Leave others, use another tracker, or raise maxStreamParts or maxStreamPartsPerNode.',
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
  REPLACED: {
    summary: 'The node has connected once more',
    remedy: 'Nothing, if that was you; else someone else has your key.',
  },
  SLOW_NODE: {
    summary: 'The node does not read what the tracker sends',
    remedy: 'It is overloaded or its network too slow; it may connect again.',
  },
} as const satisfies ErrorTable

export type TrackerErrorCode = keyof typeof trackerErrors
export const trackerError = errorFactory(trackerErrors)
