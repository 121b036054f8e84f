/** Every limit of the wire protocol, in one place. docs/limits.md is checked against this file. */
export const limits = {
  /** Content of one message. */
  maxContentBytes: 1024 * 1024,
  /** One batch as it travels: content plus envelope and signature. */
  maxBatchBytes: 1024 * 1024 + 64 * 1024,
  /** Messages under one signature. */
  maxBatchMessages: 256,
  /** A stream id in UTF-8 (which it is ASCII of). */
  maxStreamIdBytes: 243,
  /** The path of a stream id. */
  maxStreamPathBytes: 200,
  /** A message chain id. */
  maxMessageChainIdBytes: 32,
  /** A group key id. */
  maxGroupKeyIdBytes: 64,
  /** Partitions of one stream. */
  maxPartitions: 100,
  /** Neighbours in one status or instruction. */
  maxNeighbours: 64,
  /** Failed edges in one status. */
  maxFailedNeighbours: 64,
  /** Message chain heads in one attach. */
  maxChainHeads: 64,
  /** A URL. */
  maxUrlBytes: 512,
  /** A signalling payload: an SDP or a candidate. */
  maxSignalBytes: 16 * 1024,
  /** ICE servers handed out by a tracker. */
  maxIceServers: 16,
  /** Free text: close reasons, agents, error messages. */
  maxTextBytes: 512,
} as const
