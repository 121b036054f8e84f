import { networkLimits } from '@runnel/network'
import { limits } from '@runnel/protocol'
import { z } from 'zod'
import { defaultControlPort } from '../control/control-options.ts'

export const logLevels = ['debug', 'info', 'warn', 'error', 'silent'] as const
export type LogLevel = (typeof logLevels)[number]

const host = (what: string) =>
  z.string().min(1).default('127.0.0.1').describe(`${what} listens on this address.`)
const port = (what: string, number: number) =>
  z.int().min(0).max(65_535).default(number).describe(`${what} listens on this port; 0 takes a free one.`)
const file = () => z.string().min(1)

const webSocketUrl = () =>
  z
    .string()
    .regex(/^wss?:\/\/\S+$/, 'must begin with ws:// or wss://')
    .max(limits.maxUrlBytes)

const address = () => z.string().regex(/^0x[0-9a-fA-F]{40}$/, 'must be 0x and 40 hexadecimal digits')

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

const http = z
  .strictObject({
    enabled: z.boolean().default(true).describe('Whether health, metrics and status are served by HTTP.'),
    host: host('The HTTP server'),
    port: port('The HTTP server', 7171),
  })
  .prefault({})

const measurements = z
  .strictObject({
    enabled: z.boolean().default(false).describe("Whether this machine's measurements are published."),
    streams: z
      .strictObject({
        cpu: z.string().optional().describe('Stream for the load of each processor.'),
        memory: z.string().optional().describe('Stream for memory use.'),
        network: z.string().optional().describe('Stream for network counters (Linux).'),
        load: z.string().optional().describe('Stream for load averages.'),
      })
      .prefault({}),
    intervalMs: z
      .int()
      .min(10)
      .max(3_600_000)
      .default(200)
      .describe('Time between two messages of a stream.'),
    autoStart: z
      .boolean()
      .default(true)
      .describe('Whether publishing begins at once, or when the supervisor says.'),
  })
  .prefault({})

const observer = z
  .strictObject({
    streams: z
      .array(z.string())
      .max(64)
      .default([])
      .describe('Streams to subscribe to and keep accounts of: delivered, missing, latency.'),
  })
  .prefault({})

const retention = {
  maxAgeDays: z
    .number()
    .positive()
    .max(36_500)
    .optional()
    .describe('Messages older than so many days are deleted. Without it age does not matter.'),
  maxBytes: z
    .int()
    .min(1)
    .optional()
    .describe('Of each stream part, bytes kept; the oldest messages are deleted first.'),
}

const storage = z
  .strictObject({
    enabled: z
      .boolean()
      .default(false)
      .describe('Whether this node keeps the streams that the storage registry assigns to it.'),
    engine: z.enum(['sqlite', 'cassandra']).default('sqlite').describe('Where messages are kept.'),
    directory: file().default('storage').describe('Directory of the SQLite file.'),
    cassandra: z
      .strictObject({
        contactPoints: z
          .array(z.string().min(1))
          .min(1)
          .max(64)
          .default(['127.0.0.1:9042'])
          .describe('Nodes of the cluster to begin with: host or host:port.'),
        localDataCenter: z.string().min(1).default('datacenter1').describe('Data centre this node is in.'),
        keyspace: z
          .string()
          .regex(/^[a-z][a-z0-9_]{0,47}$/, 'must be a to z, digits and _, at most 48')
          .default('runnel')
          .describe('Keyspace; made if there is none.'),
        username: z.string().min(1).optional().describe('User of the cluster.'),
        passwordFile: file().optional().describe('File with the password of that user.'),
      })
      .prefault({}),
    retention: z
      .strictObject({
        ...retention,
        streams: z
          .record(z.string(), z.strictObject(retention))
          .default({})
          .describe('Instead of the two above, by stream id: {"0x…/path": {"maxAgeDays": 7}}.'),
      })
      .prefault({}),
    maxStreamParts: z
      .int()
      .min(1)
      .max(100_000)
      .default(1_000)
      .describe('Most stream parts kept; of what is assigned beyond each owner of streams has its share.'),
    maxBytes: z
      .int()
      .min(1024 * 1024)
      .default(32 * 1024 ** 3)
      .describe('Bytes of batches kept of all streams; beyond, the oldest of the owner with the most go.'),
    maxBytesPerStream: z
      .int()
      .min(1024 * 1024)
      .default(8 * 1024 ** 3)
      .describe('Bytes of batches kept of each stream; beyond, its oldest go.'),
    owners: z
      .strictObject({
        allow: z
          .array(address())
          .max(1_000)
          .default([])
          .describe('Only streams of these owners are kept; none: of all.'),
        deny: z.array(address()).max(1_000).default([]).describe('Streams of these owners are not kept.'),
      })
      .prefault({}),
    maxQueuedBytes: z
      .int()
      .min(1024)
      .default(64 * 1024 * 1024)
      .describe('Bytes that may wait to be stored; beyond, batches are dropped and repaired later.'),
    maxQueuedBatches: z.int().min(1).default(100_000).describe('Batches that may wait to be stored.'),
    maxResends: z
      .int()
      .min(1)
      .max(10_000)
      .default(512)
      .describe('Most requests over links served at once. Each holds up to 128 KiB.'),
    maxHttpReads: z.int().min(1).max(10_000).default(32).describe('Most requests over HTTP served at once.'),
    repairIntervalMs: z
      .int()
      .min(100)
      .max(86_400_000)
      .default(60_000)
      .describe(
        'How often what may have been missed is asked of the other storage nodes, while there is some.',
      ),
  })
  .prefault({})

const control = z
  .strictObject({
    enabled: z
      .boolean()
      .default(false)
      .describe(
        'Whether this node obeys commands by HTTP, for experiments: ping, join, publish, stop (docs/control.md). It then says how old messages are.',
      ),
    socket: file().optional().describe('Unix socket the control API listens on, instead of host and port.'),
    host: host('The control API'),
    port: port('The control API', defaultControlPort),
    tokenFile: file()
      .optional()
      .describe('File with the token that commands must show; needed where host is no loopback address.'),
  })
  .prefault({})

/** The configuration of a broker node; also the source of the environment variables, the flags and the documentation. */
export const brokerConfigSchema = z.strictObject({
  network: file().optional().describe('Network file: where the registries or trackers are.'),
  key: file()
    .optional()
    .describe('Key file of this node. Without one it makes up a key for as long as it runs.'),
  maxLiveAgeMs: z
    .int()
    .min(1)
    .max(2 ** 31 - 1)
    .default(networkLimits.maxLiveAgeMs)
    .describe(
      'Live messages that are older are not taken, unless they fill a gap; about the same in all nodes of a network.',
    ),
  logLevel: z.enum(logLevels).default('info').describe('The least important log lines to write.'),
  websocket,
  webrtc,
  http,
  measurements,
  observer,
  storage,
  control,
})

/** A checked configuration with every default filled in. */
export type BrokerConfig = z.output<typeof brokerConfigSchema>
/** What a user may write. */
export type BrokerConfigInput = z.input<typeof brokerConfigSchema>
