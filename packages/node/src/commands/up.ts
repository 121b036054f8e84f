import { resolve } from 'node:path'
import { checkRange } from '../cli/check-range.ts'
import { defineCommand } from '../cli/command.ts'
import { parseDurationMs } from '../cli/duration.ts'
import { notice } from '../cli/output.ts'
import { listenForStop } from '../cli/stop-signal.ts'
import { nodeError } from '../errors.ts'
import { runUp } from '../up/run-up.ts'

export const up = defineCommand({
  name: 'up',
  describe: 'Run a whole network on this machine: chain, trackers, nodes, live measurements',
  options: {
    nodes: {
      type: 'number',
      default: 8,
      describe: 'Nodes, each a process; the first one publishes',
    },
    trackers: { type: 'number', default: 2, describe: 'Trackers, each a process' },
    degree: { type: 'number', default: 4, describe: 'Neighbours of a node in an overlay' },
    interval: {
      type: 'string',
      default: '200ms',
      describe: 'Time between two messages of a stream',
    },
    'websocket-share': {
      type: 'number',
      default: 0.5,
      describe: 'Share of nodes that can be reached by WebSocket; the others connect to each other by WebRTC',
    },
    permissioned: {
      type: 'boolean',
      default: false,
      describe: 'Make a private network: only its own nodes, and nodes that you list later, may take part',
    },
    for: {
      type: 'string',
      describe: 'Publish for this time, wait for the last message, report and exit',
    },
    dir: {
      type: 'string',
      default: '.runnel/up',
      describe: 'Directory for keys, network file and logs',
    },
    'chain-port': {
      type: 'number',
      default: 0,
      describe: 'Port of the chain. 0 reuses the port of the last start, or takes a free one',
    },
    'tracker-port': {
      type: 'number',
      default: 0,
      describe:
        'Port of the first tracker; the others get the ports after it. 0 reuses the ports of the last start, or takes free ones',
    },
  },
  examples: [
    ['up', 'Until Ctrl-C, with a live table'],
    [
      'up --nodes 16 --for 20s --json',
      'Unattended: one JSON report on stdout; exits with 0 if every message arrived exactly once',
    ],
    ['up --json | jq .', 'A line of JSON about the network, then a status line every second'],
    ['up --permissioned', 'A private network; prints how to list further nodes'],
  ],
  epilogue: 'Prints the commands to publish and subscribe from another terminal.',
  run: async (args) => {
    const { nodes, trackers, degree, permissioned, 'websocket-share': websocketShare } = args
    checkRange('nodes', nodes, 2, 256)
    checkRange('trackers', trackers, 1, 16)
    checkRange('degree', degree, 2, 64)
    checkRange('chain-port', args['chain-port'], 0, 65_535)
    checkRange('tracker-port', args['tracker-port'], 0, 65_535)
    if (!(websocketShare >= 0 && websocketShare <= 1))
      throw nodeError('USAGE', '--websocket-share takes a number from 0 to 1')
    const intervalMs = parseDurationMs(args.interval, 'interval')
    if (intervalMs < 10) throw nodeError('USAGE', '--interval takes at least 10ms')
    const stop = listenForStop()
    const network = {
      nodes,
      trackers,
      degree,
      permissioned,
      websocketShare,
      intervalMs: Math.round(intervalMs),
      logLevel: args['log-level'] ?? 'warn',
    }
    await runUp({
      ...{ ...network, chainPort: args['chain-port'], trackerPort: args['tracker-port'] },
      directory: resolve(args.dir),
      publishForMs: args.for === undefined ? undefined : parseDurationMs(args.for, 'for'),
      json: args.json,
      signal: stop.signal,
      onProgress: notice,
    })
    stop.release()
  },
})
