import yargs from 'yargs'
import { hideBin } from 'yargs/helpers'
import { browserBench } from './browser/browser-bench.ts'
import { tabsBench } from './browser/tabs-bench.ts'
import { delegationBench } from './delegation/delegation-bench.ts'
import { encryptionBench } from './encryption/encryption-bench.ts'
import { failoverBench } from './failover/failover-bench.ts'
import { floodBench } from './flood/flood-bench.ts'
import { gatewayBench } from './gateway/gateway-bench.ts'
import { joinBench } from './join/join-bench.ts'
import { lastBench } from './last/last-bench.ts'
import { lightBench } from './light/light-bench.ts'
import { mqttBench } from './mqtt/mqtt-bench.ts'
import { speakersBench } from './speakers/speakers-bench.ts'
import { playbackBench } from './playback/playback-bench.ts'
import { publishBench } from './publish/publish-bench.ts'
import { readerBench } from './reader/reader-bench.ts'
import { relayBench } from './relay/relay-bench.ts'
import { requestBench } from './request/request-bench.ts'
import { resendBench } from './resend/resend-bench.ts'
import { sparseBench } from './sparse/sparse-bench.ts'
import { startBench } from './start/start-bench.ts'
import { storeBench } from './store/store-bench.ts'
import { topologyBench } from './topology/topology-bench.ts'
import { siegeBench } from './tracker/siege-bench.ts'
import { trackerBench } from './tracker/tracker-bench.ts'
import { urgentBench } from './urgent/urgent-bench.ts'

const transports = ['webrtc', 'websocket', 'mixed'] as const

function print(report: object, json: boolean): void {
  process.stdout.write(`${JSON.stringify(report, null, json ? 0 : 2)}\n`)
}

const link = {
  json: { type: 'boolean' as const, default: false, describe: 'one line of JSON' },
  transport: { choices: transports, default: 'webrtc' as const, describe: 'what the links are' },
  verify: {
    choices: ['on', 'off'] as const,
    default: 'on' as const,
    describe: 'check signatures at every hop',
  },
}

/** Every benchmark that may wait for something has this option, and says so. */
const limitOf = (seconds: number) => ({
  type: 'number' as const,
  default: seconds,
  describe: 'seconds after which it fails',
})
const tellEnd = (seconds: number) => process.stderr.write(`ends within ${seconds} s\n`)

await yargs(hideBin(process.argv))
  .scriptName('bench')
  .usage('$0 <benchmark>\n\nEach prints its figures and those of a baseline from the same run.')
  .command(
    'relay',
    'CPU per message of one relay, against the transport used bare',
    { ...link, messages: { type: 'number' as const, default: 100_000 } },
    async ({ transport, verify, messages, json }) => {
      const run = (one: 'webrtc' | 'websocket') =>
        relayBench({ transport: one, verify: verify === 'on', messages })
      if (transport !== 'mixed') return print(await run(transport), json)
      print(
        { bench: 'relay', transport, webrtc: await run('webrtc'), websocket: await run('websocket') },
        json,
      )
    },
  )
  .command(
    'start',
    'networks of six nodes and some trackers that start at once, against one tracker',
    {
      json: link.json,
      networks: { type: 'number' as const, default: 100 },
      trackers: { type: 'number' as const, default: 3 },
      busy: { type: 'number' as const, default: 2, describe: 'threads that keep processors busy' },
      limit: { type: 'number' as const, default: 20, describe: 'seconds after which a network is late' },
    },
    async ({ networks, trackers, busy, limit, json }) =>
      print(await startBench({ networks, trackers, busy, limitS: limit }), json),
  )
  .command(
    'flood',
    'deliveries per second and delays in one overlay',
    {
      ...link,
      nodes: { type: 'number' as const, default: 16 },
      messages: { type: 'number' as const, default: 20_000 },
      limit: limitOf(300),
    },
    async ({ transport, verify, nodes, messages, limit, json }) =>
      print(await floodBench({ transport, verify: verify === 'on', nodes, messages, limitS: limit }), json),
  )
  .command(
    'delegation',
    'what it costs that delegates sign for users and nodes act for them, against users that do so themselves',
    {
      json: link.json,
      transport: { choices: ['websocket', 'webrtc'] as const, default: 'websocket' as const },
      nodes: { type: 'number' as const, default: 12 },
      messages: { type: 'number' as const, default: 10_000, describe: 'of each run; a tenth one a batch' },
      rounds: { type: 'number' as const, default: 15, describe: 'pairs of runs' },
      joins: { type: 'number' as const, default: 100, describe: 'pairs of nodes that join' },
      delegations: { type: 'number' as const, default: 10_000, describe: 'remembered by one node' },
      limit: limitOf(600),
    },
    async ({ transport, nodes, messages, rounds, joins, delegations, limit, json }) => {
      tellEnd(limit)
      const size = { transport, nodes, messages, rounds, joins, delegations }
      print(await delegationBench({ ...size, limitS: limit }), json)
    },
  )
  .command(
    'encryption',
    'what end-to-end encryption costs: CPU, bytes, the way from a grant to the first line, and until a revoked reader is blind',
    {
      json: link.json,
      messages: { type: 'number' as const, default: 32_768, describe: 'of each round; a multiple of 16,384' },
      readers: { type: 'number' as const, default: 10_000, describe: 'with cards, of one stream' },
      grants: { type: 'number' as const, default: 40, describe: 'to readers, in new streams' },
      revocations: { type: 'number' as const, default: 40 },
      rate: { type: 'number' as const, default: 100, describe: 'messages a second in each of two streams' },
      limit: limitOf(600),
    },
    async ({ messages, readers, grants, revocations, rate, limit, json }) => {
      tellEnd(limit)
      const size = { messages, readers, grants, revocations, ratePerS: rate, limitS: limit }
      print(await encryptionBench(size, (text) => void process.stderr.write(`${text}\n`)), json)
    },
  )
  .command(
    'publish',
    'messages a second from an application to a subscriber in another process, in each way to publish',
    {
      json: link.json,
      messages: { type: 'number' as const, default: 100_000 },
      limit: limitOf(120),
    },
    async ({ messages, limit, json }) => {
      tellEnd(limit)
      print(await publishBench({ messages, limitS: limit }), json)
    },
  )
  .command(
    'last',
    'how long the newest message of a key takes from a neighbour, against a ping of the same links',
    {
      json: link.json,
      members: { type: 'number' as const, default: 8, describe: 'nodes that keep the values' },
      keys: { type: 'number' as const, default: 1_000 },
      joins: { type: 'number' as const, default: 40, describe: 'nodes that come later and ask' },
      limit: limitOf(120),
    },
    async ({ members, keys, joins, limit, json }) => {
      tellEnd(limit)
      print(await lastBench({ members, keys, joins, limitS: limit }), json)
    },
  )
  .command(
    'urgent',
    'delay of urgent messages on a slow line beside as much else as it takes, against ordinary ones',
    {
      json: link.json,
      transport: { choices: ['webrtc', 'websocket'] as const, default: 'webrtc' as const },
      rate: { type: 'number' as const, default: 2_000, describe: 'kbit/s of the line' },
      delay: { type: 'number' as const, default: 20, describe: 'ms one way' },
      loss: { type: 'number' as const, default: 0, describe: 'percent of the datagrams; WebRTC only' },
      messages: { type: 'number' as const, default: 500, describe: 'of each kind, 50 a second' },
      limit: limitOf(120),
    },
    async ({ transport, rate, delay, loss, messages, limit, json }) => {
      tellEnd(limit)
      const line = { kbitPerS: rate, oneWayMs: delay, lossRate: loss / 100 }
      print(await urgentBench({ transport, ...line, messages, limitS: limit }), json)
    },
  )
  .command(
    'playback',
    'from a click on the time line of a recording to the picture, against reading the same messages without decoding them',
    {
      json: link.json,
      frames: { type: 'number' as const, default: 4_000, describe: 'of the recording, about 95 a second' },
      clicks: { type: 'number' as const, default: 60 },
      opens: { type: 'number' as const, default: 20, describe: 'new pages that open it' },
      limit: limitOf(300),
    },
    async ({ frames, clicks, opens, limit, json }) => {
      tellEnd(limit)
      print(await playbackBench({ frames, clicks, opens, limitS: limit }), json)
    },
  )
  .command(
    'speakers',
    'a page of the room example, how smooth it is with more and more speakers, against the page alone',
    {
      json: link.json,
      speakers: {
        type: 'array' as const,
        number: true as const,
        default: [1, 5, 10, 15, 20, 30],
        describe: 'how many, one after the other; ends where the page is not smooth',
      },
      seconds: { type: 'number' as const, default: 10, describe: 'for which each number is watched' },
      limit: limitOf(400),
    },
    async ({ speakers, seconds, limit, json }) => {
      tellEnd(limit)
      print(await speakersBench({ speakers: speakers.map(Number), seconds, limitS: limit }), json)
    },
  )
  .command(
    'light',
    'what a guest costs its host, against a full neighbour, and how soon each gets its first message',
    {
      json: link.json,
      peers: { type: 'number' as const, default: 3, describe: 'guests, and neighbours, of each run' },
      messages: { type: 'number' as const, default: 500, describe: 'of each run' },
      rounds: { type: 'number' as const, default: 3, describe: 'runs with each, in turns' },
      idle: { type: 'number' as const, default: 50, describe: 'guests at once, for memory' },
      starts: { type: 'number' as const, default: 10 },
      limit: limitOf(240),
    },
    async ({ peers, messages, rounds, idle, starts, limit, json }) => {
      tellEnd(limit)
      print(await lightBench({ peers, messages, rounds, idle, starts, limitS: limit }), json)
    },
  )
  .command(
    'request',
    'time from a request to its reply among some nodes, beside the way of a message through the same overlay',
    {
      json: link.json,
      nodes: { type: 'number' as const, default: 8 },
      overlays: {
        type: 'number' as const,
        default: 5,
        describe: 'drawn one after the other; the median counts',
      },
      requests: { type: 'number' as const, default: 200, describe: 'in each overlay' },
      limit: limitOf(180),
    },
    async ({ nodes, overlays, requests, limit, json }) => {
      tellEnd(limit)
      print(await requestBench({ nodes, overlays, requests, limitS: limit }), json)
    },
  )
  .command(
    'reader',
    'messages a second to a durable reader that acknowledges each, beside a plain subscription; its cursor, and how long a lost share waits',
    {
      json: link.json,
      messages: { type: 'number' as const, default: 50_000 },
      publishers: { type: 'number' as const, default: 4 },
      limit: limitOf(180),
    },
    async ({ messages, publishers, limit, json }) => {
      tellEnd(limit)
      print(await readerBench({ messages, publishers, limitS: limit }), json)
    },
  )
  .command(
    'gateway',
    'delay and rate through HTTP and WebSocket gateways, beside the SDK alone, and what idle readers cost',
    {
      json: link.json,
      nodes: { type: 'number' as const, default: 8 },
      rounds: { type: 'number' as const, default: 9, describe: 'of each path, by turns' },
      paced: { type: 'number' as const, default: 150, describe: 'messages a round whose delay is measured' },
      messages: { type: 'number' as const, default: 10_000, describe: 'messages a round at once' },
      idle: { type: 'number' as const, default: 10_000, describe: 'readers that get nothing' },
      limit: limitOf(180),
    },
    async ({ nodes, rounds, paced, messages, idle, limit, json }) => {
      tellEnd(limit)
      print(await gatewayBench({ nodes, rounds, paced, messages, idle, idleS: 20, limitS: limit }), json)
    },
  )
  .command(
    'mqtt',
    'MQTT gateways: delays through an overlay, messages a second through one, and what connections cost, beside mosquitto',
    {
      json: link.json,
      nodes: { type: 'number' as const, default: 8, describe: 'in the overlay, two of them gateways' },
      rate: { type: 'number' as const, default: 1_000, describe: 'messages a second, of the delays' },
      seconds: { type: 'number' as const, default: 20, describe: 'how long each state is watched' },
      'warm-up': { type: 'number' as const, default: 10, describe: 'seconds before delays are taken' },
      messages: { type: 'number' as const, default: 200_000, describe: 'of 100 bytes, as fast as they go' },
      idle: { type: 'number' as const, default: 10_000, describe: 'connections that do nothing' },
      busy: { type: 'number' as const, default: 1_000, describe: 'connections with a message a second each' },
      mosquitto: { type: 'boolean' as const, default: true, describe: 'measure mosquitto in the same run' },
      limit: limitOf(400),
    },
    async ({ nodes, rate, seconds, warmUp, messages, idle, busy, mosquitto, limit, json }) => {
      tellEnd(limit)
      const size = { nodes, ratePerS: rate, seconds, warmUpS: warmUp, messages, idle, busy, mosquitto }
      print(await mqttBench({ ...size, limitS: limit }), json)
    },
  )
  .command(
    'join',
    'time to the first message for a node that joins a live stream part',
    {
      ...link,
      nodes: { type: 'number' as const, default: 12 },
      joins: { type: 'number' as const, default: 60 },
    },
    async ({ transport, verify, nodes, joins, json }) =>
      print(await joinBench({ transport, verify: verify === 'on', nodes, joins }), json),
  )
  .command(
    'sparse',
    'memory and ticks of a node while one publisher leaves gaps everywhere, against as many messages without',
    {
      json: link.json,
      chains: { type: 'number' as const, default: 50 },
      ranges: { type: 'number' as const, default: 10_000, describe: 'gaps in each' },
      seconds: { type: 'number' as const, default: 150, describe: 'at most, for each of the two' },
    },
    async ({ chains, ranges, seconds, json }) => {
      tellEnd(2 * seconds + 30)
      print(await sparseBench({ chains, rangesPerChain: ranges, maxSeconds: seconds }), json)
    },
  )
  .command(
    'topology',
    'what a join costs the tracker (no links are opened: the options for links change nothing)',
    {
      ...link,
      nodes: { type: 'number' as const, default: 5000 },
      degree: { type: 'number' as const, default: 4 },
    },
    ({ nodes, degree, json }) => print(topologyBench({ nodes, degree }), json),
  )
  .command(
    'store',
    'storing and reading in SQLite, against bare inserts',
    {
      json: link.json,
      messages: { type: 'number' as const, default: 500_000 },
      history: { type: 'number' as const, default: 10_000_000 },
      quick: { type: 'boolean' as const, default: false, describe: 'a tenth of both' },
    },
    async ({ messages, history, quick, json }) => {
      const share = quick ? 10 : 1
      print(await storeBench({ messages: messages / share, history: history / share }), json)
    },
  )
  .command(
    'resend',
    'stored messages from a storage node to a client in another process (mixed: over WebRTC, then WebSocket)',
    {
      json: link.json,
      transport: { ...link.transport, default: 'mixed' as const },
      messages: { type: 'number' as const, default: 100_000 },
      batch: { type: 'number' as const, default: 64, describe: 'messages under one signature' },
    },
    async ({ transport, messages, batch, json }) => {
      const chosen = transport === 'mixed' ? (['websocket', 'webrtc'] as const) : [transport]
      print(await resendBench({ transports: chosen, messages, perBatch: batch }), json)
    },
  )
  .command(
    'tracker',
    'memory and CPU of a tracker with many nodes, against a bare WebSocket server with as many connections',
    {
      json: link.json,
      nodes: { type: 'number' as const, default: 10_000 },
      streams: { type: 'number' as const, default: 1_000 },
      streamsPerNode: { type: 'number' as const, default: 2 },
      seconds: { type: 'number' as const, default: 15, describe: 'how long each state is watched' },
      rejoins: { type: 'number' as const, default: 100, describe: 'joins a second in the busy state' },
    },
    async ({ nodes, streams, streamsPerNode, seconds, rejoins, json }) => {
      const options = { nodes, streams, streamsPerNode, watchMs: 1000 * seconds, rejoinsPerS: rejoins }
      print(await trackerBench(options, (text) => void process.stderr.write(`${text}\n`)), json)
    },
  )
  .command(
    'siege',
    'joins of honest nodes while one network holds all that it can at their tracker, against joins without that',
    {
      json: link.json,
      keys: { type: 'number' as const, default: 1_000, describe: 'ids of the network that besieges' },
      sockets: {
        type: 'number' as const,
        default: 2_000,
        describe: 'its handshakes that stay half open, and as many connections that say nothing',
      },
      parts: { type: 'number' as const, default: 120, describe: 'stream parts that each of its ids joins' },
      joins: {
        type: 'number' as const,
        default: 30,
        describe: 'honest nodes that join, before and meanwhile',
      },
      maxSeconds: { type: 'number' as const, default: 600, describe: 'it ends by then, whatever happens' },
    },
    async ({ keys, sockets, parts, joins, maxSeconds, json }) => {
      const options = { keys, sockets, partsPerKey: parts, joins, maxMs: 1000 * maxSeconds, limits: {} }
      print(await siegeBench(options, (text) => void process.stderr.write(`${text}\n`)), json)
    },
  )
  .command(
    'failover',
    'trackers are killed, frozen and restarted while nodes publish: losses, joins meanwhile, edges kept',
    {
      json: link.json,
      nodes: { type: 'number' as const, default: 24, describe: 'four in a process' },
      streams: { type: 'number' as const, default: 20 },
      rate: { type: 'number' as const, default: 100, describe: 'messages a second, in all streams together' },
      joins: { type: 'number' as const, default: 20, describe: 'nodes that join during each outage' },
      deadSeconds: { type: 'number' as const, default: 120, describe: 'how long all trackers are dead' },
    },
    async ({ nodes, streams, rate, joins, deadSeconds, json }) => {
      const size = { trackers: 3, processes: Math.ceil(nodes / 4), nodesPerProcess: 4 }
      const what = { kills: 3, freezes: 1, restarts: 3, joins, allDeadMs: 1000 * deadSeconds }
      const options = { ...size, ...what, streams, membersPerStream: Math.ceil(nodes / 2), ratePerS: rate }
      const say = (text: string) => process.stderr.write(`${text}\n`)
      print(await failoverBench(options, say), json)
    },
  )
  .command(
    'browser',
    'pages in Chromium: from load to the first live message, and what relaying costs a tab',
    {
      json: link.json,
      loads: { type: 'number' as const, default: 40 },
      rate: { type: 'number' as const, default: 1000, describe: 'messages a second that a tab relays' },
      seconds: { type: 'number' as const, default: 15, describe: 'how long it does' },
    },
    async ({ loads, rate, seconds, json }) =>
      print(await browserBench({ loads, ratePerS: rate, relaySeconds: seconds }), json),
  )
  .command(
    'tabs',
    'tabs of Chromium and nodes in one overlay: tabs open and close at random, what do those that stay lose',
    {
      json: link.json,
      nodes: { type: 'number' as const, default: 10, describe: 'of Node, all of which stay' },
      tabs: { type: 'number' as const, default: 10, describe: 'open at a time; half of them stay' },
      rate: { type: 'number' as const, default: 20, describe: 'messages a second' },
      seconds: { type: 'number' as const, default: 120 },
      seed: { type: 'string' as const, default: 'tabs' },
    },
    async ({ nodes, tabs, rate, seconds, seed, json }) =>
      print(await tabsBench({ nodes, tabs, ratePerS: rate, seconds, seed }), json),
  )
  .demandCommand(1, 'Name a benchmark.')
  .strict()
  .parseAsync()
process.exit(0)
