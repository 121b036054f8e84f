import { isStreamPattern } from '@runnel/client/follow'
import { networkLimits } from '@runnel/network'
import { limits, verificationLimits } from '@runnel/protocol'
import { z } from 'zod'
import { tlsPair } from '../cli/tls-files.ts'
import { builtInSchemas } from '../plugins/built-in.ts'
import { nodeLimits } from '../limits.ts'
import { file, host, port } from './fields.ts'
import { logFormats, logLevels } from './log-levels.ts'

const webSocketUrl = () =>
  z
    .string()
    .regex(/^wss?:\/\/\S+$/, 'must begin with ws:// or wss://')
    .max(limits.maxUrlBytes)

const websocket = z
  .strictObject({
    listen: z.boolean().default(true).describe('Whether others can reach this node by WebSocket.'),
    host: host('The WebSocket server'),
    port: port('The WebSocket server', 7170),
    publicUrl: webSocketUrl()
      .optional()
      .describe('URL by which others reach it, if that is not its own address (behind a proxy).'),
    alsoKnownAs: z
      .array(webSocketUrl())
      .max(16)
      .default([])
      .describe(
        'Further URLs by which others reach it besides publicUrl: one inside the network, or a former one.',
      ),
    certFile: file().optional().describe('TLS certificate, PEM; makes it a wss server.'),
    keyFile: file().optional().describe('Private key of the TLS certificate, PEM.'),
  })
  .prefault({})
  .refine(...tlsPair)

const tcp = z
  .strictObject({
    enabled: z
      .boolean()
      .default(false)
      .describe(
        'Whether this node connects by plain TCP to nodes that also do; encrypted as over WebSocket.',
      ),
    listen: z.boolean().default(true).describe('Whether others can reach this node by TCP.'),
    host: host('The TCP server'),
    port: port('The TCP server', 7173),
    publicUrl: z
      .string()
      .regex(/^tcp:\/\/\S+:\d+$/, 'must be tcp://host:port')
      .max(limits.maxUrlBytes)
      .optional()
      .describe('URL by which others reach it, if that is not its own address (behind a NAT).'),
  })
  .prefault({})

const webrtc = z
  .strictObject({
    enabled: z.boolean().default(true).describe('Whether this node connects by WebRTC.'),
    maxConnections: z
      .int()
      .min(1)
      .max(500)
      .default(250)
      .describe('Maximum number of WebRTC connections at once. Each takes about 290 KB.'),
  })
  .prefault({})

const circuits = z
  .strictObject({
    enabled: z
      .boolean()
      .default(true)
      .describe(
        'Whether this node links through nodes that carry circuits when there is no other way, such as behind a firewall that blocks UDP.',
      ),
    carriers: z.array(webSocketUrl()).max(8).default([]).meta({
      flag: 'carrier',
      description: 'URLs of nodes that carry circuits, in addition to those that trackers name.',
    }),
    carry: z
      .boolean()
      .default(false)
      .describe(
        'Whether this node carries circuits between other nodes; it cannot read their traffic. It must be reachable by WebSocket, ideally on port 443 with TLS.',
      ),
    maxCarried: z
      .int()
      .min(1)
      .max(10_000)
      .default(256)
      .describe('Maximum number of circuits carried at once.'),
    maxBytesPerS: z
      .int()
      .min(65_536)
      .default(8 * 1024 * 1024)
      .describe(
        'Maximum bytes per second of all circuits together; above it, the node reads from their senders more slowly.',
      ),
  })
  .prefault({})

const guests = z
  .strictObject({
    serve: z
      .boolean()
      .default(false)
      .describe(
        'Whether light clients may take part through this node, in streams that its user may read. The node must be reachable.',
      ),
    maxGuests: z
      .int()
      .min(1)
      .max(10_000)
      .default(networkLimits.maxGuests)
      .describe(
        'Maximum number of guests at once. Above it, the newest guest from the network of addresses with the most guests is dropped.',
      ),
    maxStreamParts: z
      .int()
      .min(1)
      .max(10_000)
      .default(networkLimits.maxGuestParts)
      .describe('Maximum number of stream partitions that it joins only for guests.'),
    maxBytesPerS: z
      .int()
      .min(65_536)
      .default(networkLimits.maxGuestBytesPerS)
      .describe(
        'Maximum bytes per second of messages sent to guests. Above it, the guest that receives the most is dropped.',
      ),
  })
  .prefault({})

/** The configuration of a broker node; its own settings and those of its plugins. Also the source of the environment variables, the flags and the documentation. */
export const brokerConfigSchema = z.strictObject({
  network: file()
    .optional()
    .describe(
      'Network file, which says where the registries or trackers are. Or the URL of a signed document with its owner: https://…#0xowner.',
    ),
  as: file()
    .optional()
    .describe(
      'The user that this node acts for: a delegation file of its operator, or the key file of a user, with mode 600. Without it, the node is its own user.',
    ),
  readingKey: file()
    .optional()
    .describe(
      'Reading key file, with mode 600: a node that acts by a delegation needs it to open content encrypted for its user.',
    ),
  key: file()
    .optional()
    .describe(
      'Key file of this node, which gives it its id. No two processes may share one. Without it, the node makes a new key at each start.',
    ),
  name: z
    .string()
    .regex(/^[ -~]*$/, 'must be printable ASCII')
    .max(limits.maxNodeNameBytes)
    .default('')
    .describe(
      'A name for this node. Its trackers show the name to everybody, as well as the version and the kind of node. None by default.',
    ),
  streams: z
    .array(
      z
        .string()
        .refine(
          isStreamPattern,
          'must be 0xowner/path, 0xowner/prefix/#, 0xowner/prefix/* or 0xowner/*; or /path of your own',
        ),
    )
    .max(nodeLimits.maxStreamPatterns)
    .default([])
    .meta({
      flag: 'stream',
      description:
        'Streams that this node takes part in, so that others can link to it: 0xowner/path, or /path of its user. 0xowner/prefix/* and 0xowner/* stand for all such streams, including later ones; 0xowner/prefix/# also includes 0xowner/prefix.',
    }),
  thinFloods: z
    .boolean()
    .default(true)
    .describe(
      'Whether neighbours whose copies arrive late are asked to send digests instead, for publishers with many messages. Without it, every neighbour sends a copy of everything.',
    ),
  verificationWorkers: z
    .int()
    .min(0)
    .max(verificationLimits.maxWorkers)
    .optional()
    .describe(
      'Threads that verify signatures when the node’s own thread falls behind; none is started before. 0 turns them off. Default: one less than the number of cores, at most 4.',
    ),
  maxLiveAgeMs: z
    .int()
    .min(1)
    .max(2 ** 31 - 1)
    .default(networkLimits.maxLiveAgeMs)
    .describe(
      'Older live messages are rejected, unless they fill a gap. Use about the same value in all nodes of a network.',
    ),
  logLevel: z.enum(logLevels).default('info').describe('The least important log lines to write.'),
  logFormat: z
    .enum(logFormats)
    .default('auto')
    .describe('Format of log lines. auto: text on a terminal, otherwise JSON.'),
  websocket,
  tcp,
  webrtc,
  circuits,
  guests,
  ...builtInSchemas,
  plugins: z
    .record(z.string().min(1), z.record(z.string(), z.unknown()))
    .default({})
    .describe(
      'Further plugins by npm package, with their settings: {"@acme/runnel-gauge": {"intervalMs": 1000}}. Packages are resolved from the working directory.',
    ),
})

/** A checked configuration with every default filled in. */
export type BrokerConfig = z.output<typeof brokerConfigSchema>
/** What a user may write. */
export type BrokerConfigInput = z.input<typeof brokerConfigSchema>
