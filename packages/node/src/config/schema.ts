import { networkLimits } from '@runnel/network'
import { limits } from '@runnel/protocol'
import { storageConfigSchema } from '@runnel/storage'
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
  storage: storageConfigSchema,
  control,
})

/** A checked configuration with every default filled in. */
export type BrokerConfig = z.output<typeof brokerConfigSchema>
/** What a user may write. */
export type BrokerConfigInput = z.input<typeof brokerConfigSchema>
