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
      .describe('How others reach it, when that is not its own address (behind a proxy).'),
    alsoKnownAs: z
      .array(webSocketUrl())
      .max(16)
      .default([])
      .describe(
        'Further URLs by which others reach it where publicUrl is set: from inside the network, or a former one.',
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
      .describe('Whether this node connects by plain TCP, sealed as WebSocket is, to nodes that do so too.'),
    listen: z.boolean().default(true).describe('Whether others can reach this node by TCP.'),
    host: host('The TCP server'),
    port: port('The TCP server', 7173),
    publicUrl: z
      .string()
      .regex(/^tcp:\/\/\S+:\d+$/, 'must be tcp://host:port')
      .max(limits.maxUrlBytes)
      .optional()
      .describe('How others reach it, when that is not its own address (behind a NAT).'),
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
      .describe('Most WebRTC connections at once. One costs about 290 KB.'),
  })
  .prefault({})

const circuits = z
  .strictObject({
    enabled: z
      .boolean()
      .default(true)
      .describe(
        'Whether this node links over nodes that carry circuits where there is no other way, as behind a firewall without UDP.',
      ),
    carriers: z.array(webSocketUrl()).max(8).default([]).meta({
      flag: 'carrier',
      description: 'URLs of nodes that carry circuits, in addition to those that trackers name.',
    }),
    carry: z
      .boolean()
      .default(false)
      .describe(
        'Whether this node carries circuits between others, which it cannot read. It has to be reachable by WebSocket, best on port 443 with TLS.',
      ),
    maxCarried: z.int().min(1).max(10_000).default(256).describe('Most circuits carried at once.'),
    maxBytesPerS: z
      .int()
      .min(65_536)
      .default(8 * 1024 * 1024)
      .describe('Most bytes a second of all of them; whoever sends more is read more slowly.'),
  })
  .prefault({})

const guests = z
  .strictObject({
    serve: z
      .boolean()
      .default(false)
      .describe(
        'Whether light clients may take part through this node, which has to be reachable; for streams that its user may read.',
      ),
    maxGuests: z
      .int()
      .min(1)
      .max(10_000)
      .default(networkLimits.maxGuests)
      .describe('Most of them at once; for one more, the newest of the network with the most goes.'),
    maxStreamParts: z
      .int()
      .min(1)
      .max(10_000)
      .default(networkLimits.maxGuestParts)
      .describe('Most partitions of streams that it takes part in for them alone.'),
    maxBytesPerS: z
      .int()
      .min(65_536)
      .default(networkLimits.maxGuestBytesPerS)
      .describe('Most bytes a second of messages that it sends them; above it, whoever takes the most goes.'),
  })
  .prefault({})

/** The configuration of a broker node; its own settings and those of its plugins. Also the source of the environment variables, the flags and the documentation. */
export const brokerConfigSchema = z.strictObject({
  network: file()
    .optional()
    .describe(
      'Network file: where the registries or trackers are; or the URL of a signed document and its owner, https://…#0xowner.',
    ),
  as: file()
    .optional()
    .describe(
      'In whose name this node acts: a delegation file of its operator, or the key file of a user, either with mode 600. Without it the node is its own user.',
    ),
  readingKey: file()
    .optional()
    .describe(
      'Reading key file: with what a node that acts by a delegation opens what is encrypted for its user; mode 600.',
    ),
  key: file()
    .optional()
    .describe(
      'Key file of this node, which no two processes share; it is its id. Without one it makes up a key for as long as it runs.',
    ),
  name: z
    .string()
    .regex(/^[ -~]*$/, 'must be printable ASCII')
    .max(limits.maxNodeNameBytes)
    .default('')
    .describe(
      'A name for this node, which its trackers show to everybody, as they do its version and what it is; none by default.',
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
        'Streams this node takes part in, so that others have it to link to: 0xowner/path, or /path of its user; 0xowner/prefix/* and 0xowner/* are all such streams, also later ones, and 0xowner/prefix/# has 0xowner/prefix besides.',
    }),
  thinFloods: z
    .boolean()
    .default(true)
    .describe(
      'Whether neighbours that bring copies late are asked for digests in their place, of publishers with many messages; without, everybody is sent a copy of everything.',
    ),
  verificationWorkers: z
    .int()
    .min(0)
    .max(verificationLimits.maxWorkers)
    .optional()
    .describe(
      'Threads that check signatures once the node’s own thread is behind; none is started before, and 0 is none. One less than there are cores by default, at most 4.',
    ),
  maxLiveAgeMs: z
    .int()
    .min(1)
    .max(2 ** 31 - 1)
    .default(networkLimits.maxLiveAgeMs)
    .describe(
      'Live messages that are older are not taken, unless they fill a gap; about the same in all nodes of a network.',
    ),
  logLevel: z.enum(logLevels).default('info').describe('The least important log lines to write.'),
  logFormat: z
    .enum(logFormats)
    .default('auto')
    .describe('How log lines are written: text for people, or JSON; auto is text on a terminal.'),
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
      'Further plugins, by npm package, with their settings: {"@acme/runnel-gauge": {"intervalMs": 1000}}. Looked for from the working directory.',
    ),
})

/** A checked configuration with every default filled in. */
export type BrokerConfig = z.output<typeof brokerConfigSchema>
/** What a user may write. */
export type BrokerConfigInput = z.input<typeof brokerConfigSchema>
