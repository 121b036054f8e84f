/** Every limit of the MQTT gateway. What a client asks for beyond them is refused, or lowered where MQTT lets a server do so. */
export const mqttLimits = {
  /** One packet of a client; longer ones end its connection. The content of a message may have 1 MiB. */
  maxPacketBytes: 1024 * 1024 + 16 * 1024,
  /** The first packet, CONNECT, which comes before its sender is known. Its will has up to 64 KiB. */
  maxConnectBytes: 128 * 1024,
  /** A topic, a filter, or a response topic, UTF-8. */
  maxTopicBytes: 512,
  /** A client id, UTF-8. */
  maxClientIdBytes: 256,
  /** Time from the connection to a complete CONNECT. */
  connectTimeoutMs: 10_000,
  /** Messages of QoS 1 or 2 that one client may send before the first is acknowledged: the gateway's Receive Maximum. Before MQTT 5 it holds for QoS 2 only. */
  receiveMaximum: 256,
  /** Messages of one client being published; it is read no further until there are fewer. */
  maxPublishing: 1_024,
  /** Messages of all clients of one identity being published; none of them is read further until there are fewer. */
  maxPublishingOfIdentity: 8_000,
  /** Bytes of these messages. */
  maxPublishingBytesOfIdentity: 32 * 1024 * 1024,
  /** Messages of QoS 1 on their way to one client, or its own Receive Maximum if that is less. */
  maxInflight: 256,
  /** Messages that wait for one client, connected or not. The oldest of QoS 0 make room first, then the oldest of QoS 1. */
  maxQueuedMessages: 10_000,
  /** Bytes of messages waiting for one client, or not yet acknowledged by it. */
  maxQueuedBytes: 4 * 1024 * 1024,
  /** The same for all clients together, shared out by account: the one with most gives way. A connected client still gets its next message. */
  maxTotalQueuedBytes: 128 * 1024 * 1024,
  /** Answers to one client not written yet, as it does not read them; it is read no further until they are. */
  maxUnwrittenAnswers: 1_000,
  /** Packets of one client that wait for its rate, or for others under way; it is read no further until there are fewer. Its pings are answered meanwhile. */
  maxWaitingPackets: 1_000,
  /** Bytes of these packets. */
  maxWaitingBytes: 256 * 1024,
  /** SUBSCRIBE packets of one client under way; it is read no further until there are fewer. */
  maxSubscribing: 16,
  /** Bytes in the socket of a client that does not read; later ones wait in its queue. */
  maxUnsentBytes: 512 * 1024,
  /** Filters of one session. */
  maxSubscriptions: 100,
  /** Filters in one SUBSCRIBE or UNSUBSCRIBE. */
  maxFiltersPerPacket: 100,
  /** Sessions without a connection that one account may have; beyond it, the one due to end first goes. */
  maxAwaySessions: 1_000,
  /** Such sessions of all accounts; beyond it, one of the account with most ends. */
  maxTotalAwaySessions: 10_000,
  /**
   * Sessions whose clients were connected when an earlier node ended, and have not been since; they do not count as sessions without a connection.
   * Further ones do.
   */
  maxReturningSessions: 100_000,
  /** How long a session waits for its client, whatever the client asked for. */
  maxSessionExpiryS: 24 * 3600,
  /** Changes of sessions that outlast the node are written together after this long. */
  sessionFlushMs: 100,
  /** How often it is recorded that the node is running. */
  sessionAliveMs: 10_000,
  /**
   * How long before its end a node may have missed messages that were already published: as old as a live message may be. After a
   * restart, what storage nodes have since then is read.
   */
  maxCatchUpMs: 600_000,
  /** Message chains of one feed for which it is recorded how far sessions have them; further ones, the oldest, may come again after a restart. */
  maxFeedChains: 10_000,
  /** Sessions of an earlier node that are subscribed again at once. */
  maxResuming: 16,
  /** Pause before it is tried again to subscribe for them, and to read what they missed. */
  resumeAgainMs: 5_000,
  /** Topic aliases of one client. */
  maxTopicAliases: 64,
  /** Streams under a wildcard filter whose retained messages are looked for on subscribing. */
  maxRetainedStreams: 100,
  /** Retained messages looked for at once by one account; others wait. */
  maxRetainedLookups: 8,
  /** Look-ups of retained messages that wait, for one account; further ones are skipped (counter `skipped_retained`). */
  maxWaitingLookups: 2_000,
  /** How long a retained message is looked for. */
  retainedTimeoutMs: 5_000,
} as const

export type MqttLimits = { readonly [L in keyof typeof mqttLimits]: number }
