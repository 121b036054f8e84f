/** Every limit of the wire protocol, in one place; docs/limits.md lists them. */
export const limits = {
  /** Content of one message. */
  maxContentBytes: 1024 * 1024,
  /** One batch as it travels: content plus envelope and signature. */
  maxBatchBytes: 1024 * 1024 + 64 * 1024,
  /** Messages under one signature. */
  maxBatchMessages: 256,
  /** Milliseconds from the first to the last message under one signature: how far around a range to look for batches that reach into it. */
  maxBatchSpanMs: 65_536,
  /** A stream id: an address, a slash and the longest path. All of it is ASCII. */
  maxStreamIdBytes: 243,
  /** The path of a stream id. */
  maxStreamPathBytes: 200,
  /** A message chain id. */
  maxMessageChainIdBytes: 32,
  /** A group key id. */
  maxGroupKeyIdBytes: 64,
  /** Partitions of one stream; they are numbered from 0. */
  maxPartitions: 100,
  /** Headers of a message. */
  maxHeaders: 32,
  /** The name of a header, printable ASCII. */
  maxHeaderNameBytes: 64,
  /** The value of a header, UTF-8. */
  maxHeaderValueBytes: 1024,
  /** The key of a message, UTF-8. */
  maxMessageKeyBytes: 256,
  /** Extensions of a message. */
  maxExtensions: 16,
  /** Bytes in all extensions of a message. */
  maxExtensionBytes: 1024,
  /** The lifetime of an urgent message. */
  maxUrgentLifetimeMs: 60_000,
  /** A batch of an urgent message. */
  maxUrgentBatchBytes: 256 * 1024,
  /** The header of an urgent batch that an alias replaces. */
  maxUrgentHeaderBytes: 512,
  /** Frames in one report of arrivals. */
  maxArrivals: 256,
  /** Pieces of an urgent batch. */
  maxPieces: 64,
  /** A delegation, with its signature. */
  maxDelegationBytes: 3072,
  /** Streams that a delegation names. */
  maxDelegationStreams: 8,
  /** A delegation's signature; for a contract, all its owners' together. */
  maxDelegationSignatureBytes: 2048,
  /** The requester of a delegation. */
  maxRequesterBytes: 128,
  /** A card's signature; for a contract, all its owners' together. */
  maxCardSignatureBytes: 2048,
  /** Cards in one request to a storage node. */
  maxCards: 64,
  /** How long a delegation that names its streams may last: 366 days. */
  maxDelegationMs: 366 * 86_400_000,
  /** How long a delegation for all streams may last: 92 days. */
  maxBroadDelegationMs: 92 * 86_400_000,
  /** A card, with its signature. */
  maxCardBytes: 4096,
  /** A record of a key part. */
  maxKeyRecordBytes: 256 * 1024,
  /** Readers, or publishers, with a key in one record of a key part. */
  maxWrappedKeys: 1024,
  /** Cohorts of readers in one epoch. */
  maxCohorts: 4096,
  /** Records with the keys of publishers in one epoch. */
  maxPublisherRecords: 1024,
  /** Ranges of places in a durable reader's cursor, over all chains: about 200 KB. */
  maxCursorRanges: 8_192,
  /** Earlier epochs that one epoch links to. */
  maxEarlierEpochs: 16,
  /** Epochs in one request. */
  maxWantedEpochs: 64,
  /** Keys sealed to one reader. */
  maxSealedKeyBytes: 4096,
  /** Nodes acting for one user at once in a private network, as each process there counts them. */
  maxNodesOfUser: 16,
  /** Neighbours in one status, and in one instruction. */
  maxNeighbours: 64,
  /** Failed edges in one status. */
  maxFailedNeighbours: 64,
  /** Message chain heads in one attach packet, or one heads packet. */
  maxChainHeads: 64,
  /** Batches named in one digest. */
  maxDigestEntries: 256,
  /** How long one request to a neighbour to flood less may last. */
  maxThinMs: 60_000,
  /** Missing ranges in one fetch. */
  maxFetchRanges: 64,
  /** Storage nodes in one answer of a tracker. */
  maxStorageNodes: 16,
  /** Messages that `last` may ask a storage node for. */
  maxResendCount: 10_000_000,
  /** `host:port`: a DNS name of at most 253 bytes, and a port. */
  maxAddressBytes: 259,
  /** Capabilities in a hello. */
  maxCapabilities: 32,
  /** The name of a capability. */
  maxCapabilityBytes: 64,
  /** A URL. */
  maxUrlBytes: 512,
  /** Addresses of a node, and kinds of transport that it dials. */
  maxAddresses: 8,
  /** The name of a kind of transport, and of what a node says that it is. */
  maxTransportKindBytes: 16,
  /** A signalling payload: an SDP or a candidate. */
  maxSignalBytes: 16 * 1024,
  /** ICE servers that a tracker hands out at once. */
  maxIceServers: 16,
  /** The version of a node's software, printable ASCII. */
  maxNodeVersionBytes: 32,
  /** The name that a node's operator gave it, printable ASCII. */
  maxNodeNameBytes: 64,
  /** Free text: agents, close reasons, error messages; also error codes, usernames and credentials. */
  maxTextBytes: 512,
} as const
