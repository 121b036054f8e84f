import { benchCommand, link } from './bench-command.ts'
import { benchError } from '../errors.ts'
import { count, counted } from './counts.ts'

/** Nodes, their links and overlays. */
export const nodeCommands = [
  benchCommand(
    'relay',
    {
      about: 'CPU per message of one relay, against the transport used bare',
      options: { ...link, messages: count(100_000) },
      limitS: 300,
    },
    async ({ transport, verify, messages }) => {
      const run = async (one: 'webrtc' | 'websocket') =>
        (await import('../relay/relay-bench.ts')).relayBench({
          transport: one,
          verify: verify === 'on',
          messages,
        })
      if (transport !== 'mixed') return run(transport)
      return { bench: 'relay', transport, webrtc: await run('webrtc'), websocket: await run('websocket') }
    },
  ),
  benchCommand(
    'cores',
    {
      about: 'one node with 4 neighbours and single messages of many publishers, on two cores against one',
      options: {
        publishers: count(10_000, undefined, { max: 100_000 }),
        messages: count(30_000, 'as quickly as the node takes them, of each run'),
        beside: count(5_000, 'messages a second beside a quiet stream', { min: 0 }),
        seconds: count(5, 'of that'),
        rounds: count(3),
      },
      limitS: 600,
    },
    async ({ publishers, messages, beside, seconds, rounds }, tell) =>
      (await import('../cores/cores-bench.ts')).coresBench(
        { publishers, messages, besidePerS: beside, seconds, rounds },
        tell,
      ),
  ),
  benchCommand(
    'start',
    {
      about: 'networks of six nodes and some trackers that start at once, against one tracker',
      options: {
        networks: count(100),
        trackers: count(3),
        busy: count(2, 'threads that keep processors busy', { min: 0 }),
        late: count(20, 'seconds after which a network is late'),
      },
      limitS: 900,
    },
    async ({ networks, trackers, busy, late }) =>
      (await import('../start/start-bench.ts')).startBench({ networks, trackers, busy, limitS: late }),
  ),
  benchCommand(
    'flood',
    {
      about: 'deliveries per second and delays in one overlay',
      options: { ...link, nodes: count(16), messages: count(20_000) },
      limitS: 300,
    },
    async ({ transport, verify, nodes, messages }) =>
      (await import('../flood/flood-bench.ts')).floodBench({
        transport,
        verify: verify === 'on',
        nodes,
        messages,
      }),
  ),
  benchCommand(
    'idle',
    {
      about:
        'CPU of nodes while nothing is published, in one stream part and in many, against as many bare links',
      options: {
        transport: { choices: ['webrtc', 'websocket'] as const, default: 'webrtc' as const },
        parts: {
          type: 'array' as const,
          number: true as const,
          default: [1, 100, 1_000],
          describe: 'stream parts of each arm',
          ...counted({ max: 100_000 }),
        },
        settle: count(30, 'seconds before anything is measured', { min: 0 }),
        seconds: count(60),
      },
      limitS: 300,
    },
    async ({ transport, parts, settle, seconds, limitS }, tell) => {
      if (settle + seconds >= limitS)
        throw benchError(
          'INVALID_ARGUMENT',
          `--settle and --seconds take ${settle + seconds} s, --limit ${limitS}`,
        )
      return (await import('../idle/idle-bench.ts')).idleBench(
        { transport, streamParts: parts.map(Number), settleS: settle, seconds },
        tell,
      )
    },
  ),
  benchCommand(
    'join',
    {
      about: 'time to the first message for a node that joins a live stream part',
      options: { ...link, nodes: count(12), joins: count(60) },
      limitS: 300,
    },
    async ({ transport, verify, nodes, joins }) =>
      (await import('../join/join-bench.ts')).joinBench({ transport, verify: verify === 'on', nodes, joins }),
  ),
  benchCommand(
    'light',
    {
      about:
        'what a guest costs its host, against a full neighbour, and how soon each gets its first message',
      options: {
        peers: count(3, 'guests, and neighbours, of each run'),
        messages: count(500, 'of each run'),
        rounds: count(3, 'runs with each, in turns'),
        idle: count(50, 'guests at once, for memory'),
        starts: count(10),
      },
      limitS: 240,
    },
    async ({ peers, messages, rounds, idle, starts, limitS }) =>
      (await import('../light/light-bench.ts')).lightBench({ peers, messages, rounds, idle, starts, limitS }),
  ),
  benchCommand(
    'urgent',
    {
      about: 'delay of urgent messages on a slow line beside as much else as it takes, against ordinary ones',
      options: {
        transport: { choices: ['webrtc', 'websocket'] as const, default: 'webrtc' as const },
        rate: count(2_000, 'kbit/s of the line'),
        delay: count(20, 'ms one way', { min: 0 }),
        loss: count(0, 'percent of the datagrams; WebRTC only', { min: 0, max: 100 }),
        messages: count(500, 'of each kind, 50 a second'),
      },
      limitS: 120,
    },
    async ({ transport, rate, delay, loss, messages, limitS }) =>
      (await import('../urgent/urgent-bench.ts')).urgentBench({
        transport,
        kbitPerS: rate,
        oneWayMs: delay,
        lossRate: loss / 100,
        messages,
        limitS,
      }),
  ),
  benchCommand(
    'sparse',
    {
      about:
        'memory and ticks of a node while one publisher leaves gaps everywhere, against as many messages without',
      options: { chains: count(50), ranges: count(10_000, 'gaps in each') },
      limitS: 330,
    },
    async ({ chains, ranges, limitS }) =>
      (await import('../sparse/sparse-bench.ts')).sparseBench({
        chains,
        rangesPerChain: ranges,
        maxSeconds: (limitS - 30) / 2,
      }),
  ),
  benchCommand(
    'topology',
    {
      about: 'what a join costs the tracker; no links are opened',
      options: { nodes: count(5_000), degree: count(4) },
      limitS: 120,
    },
    async ({ nodes, degree }) =>
      (await import('../topology/topology-bench.ts')).topologyBench({ nodes, degree }),
  ),
]
