/** A figure that the calculation stands on. */
export interface Input {
  readonly value: number
  readonly unit: string
  readonly meaning: string
  /** Where it was measured: the heading in docs/evaluation or docs/COMPARISON.md, and the command. Undefined: it is assumed. */
  readonly measured?: { readonly in: string; readonly command: string }
}

const tracker = { in: 'EVALUATION, "One tracker, 10,000 nodes"', command: 'npm run -s bench -- tracker' }
const store = {
  in: 'EVALUATION, "What a network of ten million needs"',
  command: 'npm run -s bench -- store',
}
const idle = {
  in: 'EVALUATION, "A node that does nothing"',
  command: 'npm run -s bench -- idle --transport webrtc',
}
const copies = {
  in: 'EVALUATION, "Beside other overlays"',
  command: 'npm run -s sim -- compare --nodes 256',
}
const peers = {
  in: 'COMPARISON, "100 messages a second", `runnel-webrtc-single`',
  command: 'npm run -s bench -- peers',
}

/** Measured. Memory is in units of 1,000 bytes. */
export const costs = {
  trackerKbPerNode: {
    value: 28,
    unit: 'kB',
    meaning: 'resident memory of a tracker for each connected node, which is in two overlays',
    measured: tracker,
  },
  trackerIdleUsPerS: {
    value: 23,
    unit: 'µs/s',
    meaning: 'processor time of a tracker for each connected node, random overlays at rest',
    measured: tracker,
  },
  trackerImprovingUsPerS: {
    value: 96,
    unit: 'µs/s',
    meaning: 'the same while all overlays are topology-aware and being improved',
    measured: tracker,
  },
  trackerMsPerConnect: {
    value: 1.61,
    unit: 'ms',
    meaning: 'of a tracker for each node that connects',
    measured: tracker,
  },
  trackerMsPerJoin: {
    value: 1.56,
    unit: 'ms',
    meaning: 'the same for each join, with all that follows from it',
    measured: tracker,
  },
  storedBytes: {
    value: 484,
    unit: 'bytes',
    meaning:
      'on the disk of a storage node for each message of 200 bytes that is signed alone, indexes included',
    measured: store,
  },
  storedPerS: {
    value: 18_047,
    unit: '/s',
    meaning: 'such messages that a storage node writes, SQLite',
    measured: store,
  },
  copiesSent: {
    value: 3.02,
    unit: 'copies',
    meaning: 'sent for each delivery where floods are full, degree 4',
    measured: copies,
  },
  deliveryUs: {
    value: 471,
    unit: 'µs',
    meaning:
      'processor time of a node for each delivery of a quiet stream, forwarding and duplicates included',
    measured: peers,
  },
  idlePercent: {
    value: 0.091,
    unit: '%',
    meaning: 'of a core that a WebRTC node with four links takes while nothing is published',
    measured: idle,
  },
  idleLinksPercent: {
    value: 0.048,
    unit: '%',
    meaning: 'of it by four bare links, which grows with their number',
    measured: idle,
  },
  idleBytesPerS: {
    value: 358,
    unit: 'bytes/s',
    meaning: 'sent then by such a node, and to it by its tracker, with all headers',
    measured: { ...idle, command: 'unshare -rn' },
  },
} as const satisfies Record<string, Input>

/** Assumed: what the network is like, and what machines cost. */
export const assumptions = {
  nodes: { value: 10_000_000, unit: '', meaning: 'nodes that are there at the same time' },
  streams: { value: 1_000_000, unit: '', meaning: 'streams with one partition' },
  streamsPerNode: {
    value: 2,
    unit: '',
    meaning: 'streams that a node is in, as in the measurement of trackers',
  },
  stayS: { value: 3_600, unit: 's', meaning: 'a node stays so long' },
  trackersOfNode: {
    value: 2,
    unit: '',
    meaning: 'trackers a node is connected to: the leaders of its streams',
  },
  links: {
    value: 8,
    unit: '',
    meaning: 'links of a node: four in each of its streams, which have few members in common',
  },
  trackerLoad: {
    value: 0.5,
    unit: '',
    meaning: 'of one core that a tracker may use, as leaders fail and joins come in bursts',
  },
  frameBytes: {
    value: 400,
    unit: 'bytes',
    meaning: 'on the line for a copy of a message of 200 bytes: signature, header, sealing, UDP or TCP',
  },
  trackerPingS: {
    value: 2,
    unit: 's',
    meaning: 'between pings of a node at rest to a tracker, which answers each (decision 072)',
  },
  pongBytes: { value: 78, unit: 'bytes', meaning: 'on the line for such an answer: IP, TCP, sealing' },
  joinKb: {
    value: 20,
    unit: 'kB',
    meaning: 'sent by a tracker for a join: instructions, and signals of four links that it passes on',
  },
  storedShare: { value: 0.1, unit: '', meaning: 'of the streams that are stored' },
  storedDays: { value: 30, unit: 'days', meaning: 'messages are kept' },
  storageNodes: { value: 2, unit: '', meaning: 'storage nodes for each such stream' },
  storageLoad: { value: 0.5, unit: '', meaning: 'of what a storage node can write that it may have to' },
  diskTb: { value: 8, unit: 'TB', meaning: 'of disk in a machine for storage' },
  storageGb: { value: 4, unit: 'GB', meaning: 'of memory in a machine for storage' },
  coreMonth: { value: 10, unit: '€', meaning: 'a core for a month' },
  gbMonth: { value: 2, unit: '€', meaning: 'a GB of memory for a month' },
  tbMonth: { value: 20, unit: '€', meaning: 'a TB of disk for a month' },
  tbTraffic: { value: 1, unit: '€', meaning: 'a TB sent by a storage node or tracker' },
} as const satisfies Record<string, Input>
