import type { RegistryAddresses } from '@runnel/contracts'
import { networkLimits } from '@runnel/network'
import { limits, verificationLimits } from '@runnel/protocol'
import * as z from 'zod/mini'
import { clientError } from './errors.ts'
import type { Signer } from './identity/signer.ts'
import type { Eip1193Provider } from './wallet.ts'
import { describeIssues, staticNetworkSchema, type StaticNetwork } from './registry/static-network.ts'

const addressSchema = z
  .string()
  .check(z.regex(/^0x[0-9a-fA-F]{40}$/, { error: 'must be 0x and 40 hexadecimal digits' }))
const timerLimit = 2 ** 31 - 1
const countSchema = z.int().check(z.minimum(1))
const msSchema = z.int().check(z.minimum(1), z.maximum(timerLimit))
const waitMsSchema = z.int().check(z.minimum(0), z.maximum(timerLimit))
const portSchema = z.int().check(z.minimum(0), z.maximum(65_535))

const rpcUrlSchema = z.url({ protocol: /^https?$/, error: 'must be an http:// or https:// URL' })

/** A chain, and where the registries stand on it. */
export const chainSchema = z.strictObject({
  rpcUrl: z.union([rpcUrlSchema, z.array(rpcUrlSchema).check(z.minLength(1), z.maxLength(8))]),
  rpcQuorum: z.optional(z.int().check(z.positive(), z.maximum(8))),
  chainId: z.optional(z.int().check(z.positive())),
  registries: z.strictObject({
    trackerRegistry: addressSchema,
    streamRegistry: addressSchema,
    storageRegistry: addressSchema,
  }),
})

/** No request is made by a URL with a password, and the error would show it. */
const sourceSchema = z.string().check(
  z.refine((place) => {
    const url = URL.parse(place)
    return url === null || (url.username === '' && url.password === '')
  }, 'must have no user name and no password'),
)

/** A document that its owner signs, and where it is found. */
export const followedSchema = z.strictObject({
  owner: addressSchema,
  sources: z.array(sourceSchema).check(z.minLength(1), z.maxLength(8)),
  revision: z.optional(countSchema),
  copy: z.optional(z.string()),
})

const networkSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('chain'), ...chainSchema.shape }),
  z.strictObject({ kind: z.literal('static'), document: staticNetworkSchema }),
  z.strictObject({ kind: z.literal('document'), ...followedSchema.shape }),
])

const iceServerSchema = z.union([
  z.string(),
  z.strictObject({ url: z.string(), username: z.string(), credential: z.string() }),
])

const listenShape = {
  host: z._default(z.string(), '127.0.0.1'),
  port: portSchema,
  publicUrl: z.exactOptional(z.string()),
  alsoKnownAs: z.exactOptional(z.array(z.string())),
}
const tlsSchema = z.strictObject({ cert: z.string(), key: z.string() })

const tcpSchema = z.strictObject({
  listen: z.exactOptional(z.strictObject(listenShape)),
  maxConnections: z.exactOptional(countSchema),
})

const websocketSchema = z.strictObject({
  listen: z.exactOptional(z.strictObject({ ...listenShape, tls: z.exactOptional(tlsSchema) })),
  maxConnections: z.exactOptional(countSchema),
})

const webrtcSchema = z.strictObject({
  iceServers: z.exactOptional(z.array(iceServerSchema)),
  iceTransportPolicy: z.exactOptional(z.enum(['all', 'relay'])),
  maxConnections: z.exactOptional(countSchema),
  bindAddress: z.exactOptional(z.string()),
  portRange: z.exactOptional(z.tuple([portSchema, portSchema])),
})

const circuitsSchema = z.strictObject({
  carriers: z.exactOptional(z.array(z.string().check(z.regex(/^wss?:\/\//))).check(z.maxLength(8))),
  maxConnections: z.exactOptional(countSchema),
  carries: z.exactOptional(
    z.union([
      z.literal(false),
      z.strictObject({
        maxCircuits: z.exactOptional(countSchema),
        maxBytesPerS: z.exactOptional(countSchema),
      }),
    ]),
  ),
})

const transportsSchema = z.strictObject({
  tcp: z.exactOptional(z.union([z.literal(false), tcpSchema])),
  websocket: z.exactOptional(z.union([z.literal(false), websocketSchema])),
  webrtc: z.exactOptional(z.union([z.literal(false), webrtcSchema])),
  circuits: z.exactOptional(z.union([z.literal(false), circuitsSchema])),
})

const hostUrlSchema = z.string().check(
  z.maxLength(256),
  z.refine((url) => /^(wss?|tcp):\/\/[^/]/.test(url) && URL.canParse(url), {
    error: 'must be a URL at which a node listens, ws://, wss:// or tcp://, such as wss://host.example.com',
  }),
)
const hostSchema = z.union([
  hostUrlSchema,
  z.strictObject({ url: hostUrlSchema, nodeId: z.exactOptional(addressSchema) }),
])
const hostsSchema = z.array(hostSchema).check(z.minLength(1), z.maxLength(8))
/** With two, one may fail or withhold messages without anything missing. */
export const defaultHostsAtOnce = 2
const viaSchema = z.union([
  hostsSchema,
  z.strictObject({
    hosts: hostsSchema,
    atOnce: z._default(z.int().check(z.minimum(1), z.maximum(8)), defaultHostsAtOnce),
  }),
])

const guestsSchema = z.strictObject({
  serve: z._default(z.boolean(), false),
  maxGuests: z.exactOptional(countSchema),
  maxStreamParts: z.exactOptional(countSchema),
  maxBytesPerS: z.exactOptional(countSchema),
})

const registrySchema = z.strictObject({
  maxAgeMs: z._default(msSchema, 10 * 60_000),
  maxCachedEntries: z._default(countSchema, 10_000),
  pollIntervalMs: z._default(msSchema, 2_000),
})

const queueShape = {
  maxQueuedMessages: z._default(countSchema, 10_000),
  maxQueuedBytes: z._default(countSchema, 64 * 1024 * 1024),
}
const publishSchema = z.strictObject({
  ...queueShape,
  // An application that publishes a file's lines at once is not refused; what they take is bounded in bytes.
  maxQueuedMessages: z._default(countSchema, 100_000),
  compress: z._default(z.enum(['none', 'deflate']), 'none'),
})

const hexSchema = z
  .string()
  .check(z.regex(/^0x([0-9a-fA-F]{2})+$/, { error: 'must be 0x and hexadecimal digits' }))

const delegationSchema = z.strictObject({ privateKey: z.string(), delegation: hexSchema })

/** A reading key, as configurations and files have it. */
export const readingKeySchema = z.strictObject({
  userId: addressSchema,
  generation: z.int().check(z.minimum(0), z.maximum(2 ** 32 - 1)),
  secret: z.string().check(z.regex(/^0x[0-9a-fA-F]{64}$/, { error: 'must be 0x and 64 hexadecimal digits' })),
  card: z.exactOptional(hexSchema),
})

/** Something of the application's, which is not looked into. */
function having<T>(...methods: readonly string[]) {
  const has = (value: unknown) =>
    typeof value === 'object' &&
    value !== null &&
    methods.every((name) => typeof Reflect.get(value, name) === 'function')
  return z.custom<T>(has, { error: `must have ${methods.join(', ')}` })
}

const delegationRequestSchema = z.strictObject({
  lastsMs: z._default(z.int().check(z.minimum(60_000), z.maximum(limits.maxDelegationMs)), 24 * 3_600_000),
  streams: z._default(z.array(z.string()).check(z.maxLength(limits.maxDelegationStreams)), []),
  publishes: z._default(z.boolean(), true),
  reads: z._default(z.boolean(), true),
  requester: z._default(
    z
      .string()
      .check(
        z.maxLength(limits.maxRequesterBytes),
        z.regex(/^[ -~]*$/, { error: 'must be printable ASCII' }),
      ),
    'a Runnel client',
  ),
})

const configSchema = z.strictObject({
  privateKey: z.optional(z.string()),
  delegation: z.optional(delegationSchema),
  signer: z.optional(having<Signer>('address', 'signTypedData', 'sendTransaction')),
  wallet: z.optional(having<Eip1193Provider>('request')),
  delegationRequest: z.prefault(delegationRequestSchema, {}),
  readingKey: z.optional(readingKeySchema),
  nodePrivateKey: z.optional(z.string()),
  network: networkSchema,
  via: z.optional(viaSchema),
  guests: z.prefault(guestsSchema, {}),
  transports: z._default(transportsSchema, {}),
  waitForNeighboursMs: z._default(waitMsSchema, 5_000),
  closeTimeoutMs: z._default(waitMsSchema, 5_000),
  maxLiveAgeMs: z._default(msSchema, networkLimits.maxLiveAgeMs),
  thinFloods: z._default(z.boolean(), true),
  verificationWorkers: z.optional(z.int().check(z.minimum(0), z.maximum(verificationLimits.maxWorkers))),
  registry: z.prefault(registrySchema, {}),
  publish: z.prefault(publishSchema, {}),
  subscribe: z.prefault(z.strictObject(queueShape), {}),
})

/** Where a network's trackers, streams and permissions are recorded. */
export type NetworkSource =
  /** On a chain. Without `chainId` the endpoint is asked for it; with it, another chain is refused. */
  | {
      readonly kind: 'chain'
      /** One endpoint, or several of the same chain, the preferred first: if one fails or lags, the next is used. */
      readonly rpcUrl: string | readonly string[]
      /** How many endpoints must agree on what is read. Default 2 with three or more endpoints, otherwise 1. */
      readonly rpcQuorum?: number | undefined
      readonly chainId?: number | undefined
      readonly registries: RegistryAddresses
    }
  /** In a document that nobody can change while it is used. */
  | { readonly kind: 'static'; readonly document: StaticNetwork }
  /** In a document that its owner signs and changes, as `runnel network init` makes it. */
  | ({ readonly kind: 'document' } & FollowedDocument)

/** A signed document, and where it is found. */
interface FollowedDocument {
  /** The address of the owner, who may change the document. */
  readonly owner: string
  /** URLs and, in Node, files: the newest document that the owner signed counts. At most 8. */
  readonly sources: readonly string[]
  /** Documents with a lower revision are refused. Default 1. */
  readonly revision?: number | undefined
  /** In Node: a file that keeps the newest document seen, so that older ones are refused after a restart too. */
  readonly copy?: string | undefined
}

/** What `createClient` takes. */
export interface ClientConfig<Source = NetworkSource> {
  /**
   * The private key of the user: 64 hexadecimal digits, with or without 0x. Any number of processes may use the same key. Give at most one of
   * `privateKey`, `delegation`, `signer` and `wallet`; without any, the key of the node is also the user's, and new each time.
   */
  readonly privateKey?: string | undefined
  /** Acts for the user who signed the delegation, as far as the delegation goes. */
  readonly delegation?: DelegationConfig | undefined
  /** Acts for the signer's user, who is asked once for a delegation and signs changes of the registries. */
  readonly signer?: Signer | undefined
  /** Like `signer`, with an Ethereum wallet: `window.ethereum`. */
  readonly wallet?: Eip1193Provider | undefined
  /** The delegation to ask a signer or a wallet for. */
  readonly delegationRequest?: DelegationRequestConfig | undefined
  /**
   * The key that opens what is encrypted for the user, if it does not follow from the user's key: with a delegation, for contract accounts,
   * and for signers whose signatures differ each time. Default: derived from the private key or from one signature of the signer; none with a
   * delegation.
   */
  readonly readingKey?: ReadingKeyConfig | undefined
  /**
   * The private key of the node, by which others know this process; no two processes may use the same key at once. Default: a random key. A
   * storage node keeps the key that it is registered with.
   */
  readonly nodePrivateKey?: string | undefined
  readonly network: Source
  /**
   * Makes this a light client, which forwards nothing: it is in no overlay and needs no tracker, but is a guest of two of these nodes at
   * once, the preferred first. They must serve guests. WebRTC and circuits are then off, unless they are in `transports`.
   */
  readonly via?: ViaConfig | readonly ViaHost[] | undefined
  /** Whether light clients may be guests of this node, and how much they may take from it. */
  readonly guests?: GuestsConfig | undefined
  /** How the node connects to others. `false` turns a transport off. */
  readonly transports?: TransportsConfig | undefined
  /** How long the first message in a stream part waits for a neighbour. Default 5,000. */
  readonly waitForNeighboursMs?: number | undefined
  /** How long `close` waits for published messages that are not yet sent. Default 5,000. */
  readonly closeTimeoutMs?: number | undefined
  /**
   * Live messages with an older timestamp are dropped unless they fill a gap; use a resend to get older messages. Messages can be published
   * with a timestamp up to half as old. All nodes of a network should use about the same value. Default 600,000.
   */
  readonly maxLiveAgeMs?: number | undefined
  /**
   * Whether neighbours whose copies come late are asked for digests instead, for publishers with many messages. False: every neighbour sends
   * this node a copy of everything. Default true.
   */
  readonly thinFloods?: boolean | undefined
  /**
   * Threads (in a page: workers) that check signatures once the node's own thread falls behind; none starts before. All clients of a process
   * with the same number share the threads. 0: no threads. Default: one less than the number of cores, at most 4.
   */
  readonly verificationWorkers?: number | undefined
  readonly registry?:
    | {
        /** Age after which known data is refreshed in the background; it is still used meanwhile. Default 600,000. */
        readonly maxAgeMs?: number | undefined
        /** How many streams, and pairs of stream and user, to remember. Default 10,000 each. */
        readonly maxCachedEntries?: number | undefined
        /** How often a chain is asked for changes. Default 2,000. */
        readonly pollIntervalMs?: number | undefined
      }
    | undefined
  /** How much may wait to be sent; beyond that, `publish` throws PUBLISH_QUEUE_FULL. */
  readonly publish?: PublishConfig | undefined
  /** How much may wait in a subscription; beyond that, the oldest messages are dropped, counted and reported. */
  readonly subscribe?: QueueLimitsConfig | undefined
}

/** The address of a host. With `nodeId`, no other node may answer there; this is for nodes with a key of their own (`nodePrivateKey`). */
export type ViaHost = string | { readonly url: string; readonly nodeId?: string }

/** The hosts of a light client. */
export interface ViaConfig {
  /** At most 8. */
  readonly hosts: readonly ViaHost[]
  /** How many hosts to link at once. With one, messages that it withholds go unnoticed, and messages that it lost come late. Default 2. */
  readonly atOnce?: number | undefined
}

/** What a host gives its guests, all together, shared out among the networks they come from. */
export interface GuestsConfig {
  /** Default false. */
  readonly serve?: boolean | undefined
  /** Default 256. */
  readonly maxGuests?: number
  /** Stream parts that the host joins only for guests. Default 64. */
  readonly maxStreamParts?: number
  /** Bytes of messages that the host sends guests, on average over ten seconds. Default 8 MiB. */
  readonly maxBytesPerS?: number
}

/** The contents of a delegation file. */
export interface DelegationConfig {
  /** The private key that the delegation names: 64 hexadecimal digits, with or without 0x. */
  readonly privateKey: string
  /** The encoded delegation: 0x and hexadecimal digits. */
  readonly delegation: string
}

/** The contents of a reading key file. Anyone who has them can read everything that is encrypted for the user. */
export interface ReadingKeyConfig {
  /** The user whose key it is. */
  readonly userId: string
  /** Counts from 0; the user's card says which generation is in use. */
  readonly generation: number
  /** The reading key: 0x and 64 hexadecimal digits. */
  readonly secret: string
  /** The encoded card for the key, if the user has signed one: 0x and hexadecimal digits. */
  readonly card?: string
}

/** The delegation to ask a signer or a wallet for: which rights, and how long. */
export interface DelegationRequestConfig {
  /** How long it lasts. Default 24 hours; for all streams at most 92 days. */
  readonly lastsMs?: number | undefined
  /** The streams it is for, at most 8. Default: all. */
  readonly streams?: readonly string[] | undefined
  /** Default true. */
  readonly publishes?: boolean | undefined
  /** Default true. */
  readonly reads?: boolean | undefined
  /** Who asks, as shown to the user: printable ASCII, at most 128 characters. Default in a page: its origin. */
  readonly requester?: string | undefined
}

/** How much may wait to be sent, and how content is compressed. */
export interface PublishConfig extends QueueLimitsConfig {
  /** Default 100,000. */
  readonly maxQueuedMessages?: number | undefined
  /**
   * 'deflate' compresses contents of 1,024 bytes or more if that makes them smaller. Every client can open them, even one that does not
   * compress. Default 'none'.
   */
  readonly compress?: 'none' | 'deflate' | undefined
}

/** Bounds of a queue of messages. */
export interface QueueLimitsConfig {
  /** Default 10,000. */
  readonly maxQueuedMessages?: number | undefined
  /** Bytes of content. Default 64 MiB. */
  readonly maxQueuedBytes?: number | undefined
}

/** The effective configuration: checked, with every default filled in. */
export type ParsedClientConfig = z.output<typeof configSchema>
/** `listen` makes the node reachable; its host defaults to 127.0.0.1, and port 0 takes a free port. */
export type TransportsConfig = z.input<typeof transportsSchema>
export type ParsedTransports = z.output<typeof transportsSchema>

/** Checks a configuration and fills in the defaults. Throws INVALID_CONFIG, naming every mistake, never a value. */
export function parseConfig(config: unknown): ParsedClientConfig {
  const result = configSchema.safeParse(config)
  if (!result.success) throw clientError('INVALID_CONFIG', describeIssues(result.error))
  const users = (['privateKey', 'delegation', 'signer', 'wallet'] as const).filter(
    (name) => result.data[name] !== undefined,
  )
  if (users.length > 1) throw clientError('INVALID_CONFIG', `${users.join(' and ')}: give one of them`)
  if (result.data.via === undefined) return result.data
  if (result.data.guests.serve)
    throw clientError('INVALID_CONFIG', 'via and guests.serve: a light client forwards nothing')
  requireDialler(result.data.via, result.data.transports)
  // Links to hosts need neither, and what they load is the larger part of a node's start.
  return { ...result.data, transports: { webrtc: false, circuits: false, ...result.data.transports } }
}

/** Said at once, rather than tried again and again. */
function requireDialler(
  via: z.output<typeof viaSchema>,
  { websocket = {}, tcp = false }: ParsedTransports,
): void {
  for (const host of 'hosts' in via ? via.hosts : via) {
    const isTcp = (typeof host === 'string' ? host : host.url).startsWith('tcp:')
    if (isTcp ? tcp === false : websocket === false)
      throw clientError(
        'INVALID_CONFIG',
        `via: a host that needs transports.${isTcp ? 'tcp' : 'websocket'}, which is off`,
      )
  }
}
