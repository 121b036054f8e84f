import { benchCommand, link } from './bench-command.ts'
import { count } from './counts.ts'

/** Storage nodes and trackers. */
export const serverCommands = [
  benchCommand(
    'store',
    {
      about: 'storing and reading in SQLite, against bare inserts',
      options: {
        messages: count(500_000),
        history: count(10_000_000),
        quick: { type: 'boolean' as const, default: false, describe: 'a tenth of both' },
      },
      limitS: 1_800,
    },
    async ({ messages, history, quick }) => {
      const share = quick ? 10 : 1
      return (await import('../store/store-bench.ts')).storeBench({
        messages: messages / share,
        history: history / share,
      })
    },
  ),
  benchCommand(
    'resend',
    {
      about:
        'stored messages from a storage node to a client in another process (mixed: over WebRTC, then WebSocket)',
      options: {
        transport: { ...link.transport, default: 'mixed' as const },
        messages: count(100_000),
        batch: count(64, 'messages under one signature'),
      },
      limitS: 300,
    },
    async ({ transport, messages, batch }) => {
      const chosen = transport === 'mixed' ? (['websocket', 'webrtc'] as const) : [transport]
      return (await import('../resend/resend-bench.ts')).resendBench({
        transports: chosen,
        messages,
        perBatch: batch,
      })
    },
  ),
  benchCommand(
    'tracker',
    {
      about:
        'memory and CPU of a tracker with many nodes, against a bare WebSocket server with as many connections',
      options: {
        nodes: count(10_000),
        streams: count(1_000),
        streamsPerNode: count(2),
        seconds: count(15, 'how long each state is watched'),
        rejoins: count(100, 'joins a second in the busy state', { min: 0 }),
      },
      limitS: 600,
    },
    async ({ nodes, streams, streamsPerNode, seconds, rejoins }, tell) =>
      (await import('../tracker/tracker-bench.ts')).trackerBench(
        { nodes, streams, streamsPerNode, watchMs: 1_000 * seconds, rejoinsPerS: rejoins },
        tell,
      ),
  ),
  benchCommand(
    'siege',
    {
      about:
        'joins of honest nodes while one network holds all that it can at their tracker, against joins without that',
      options: {
        keys: count(1_000, 'ids of the network that besieges'),
        sockets: count(2_000, 'its handshakes that stay half open, and as many connections that say nothing'),
        parts: count(120, 'stream parts that each of its ids joins'),
        joins: count(30, 'honest nodes that join, before and meanwhile'),
      },
      limitS: 630,
    },
    async ({ keys, sockets, parts, joins, limitS }, tell) => {
      // It reports what it has by then.
      const maxMs = 1_000 * (limitS - 30)
      return (await import('../tracker/siege-bench.ts')).siegeBench(
        { keys, sockets, partsPerKey: parts, joins, maxMs, limits: {} },
        tell,
      )
    },
  ),
  benchCommand(
    'failover',
    {
      about:
        'trackers are killed, frozen and restarted while nodes publish: losses, joins meanwhile, edges kept',
      options: {
        nodes: count(24, 'four in a process'),
        streams: count(20),
        rate: count(100, 'messages a second, in all streams together'),
        joins: count(20, 'nodes that join during each outage', { min: 0 }),
        deadSeconds: count(120, 'how long all trackers are dead'),
      },
      limitS: 900,
    },
    async ({ nodes, streams, rate, joins, deadSeconds }, tell) => {
      const size = { trackers: 3, processes: Math.ceil(nodes / 4), nodesPerProcess: 4 }
      const what = { kills: 3, freezes: 1, restarts: 3, joins, allDeadMs: 1_000 * deadSeconds }
      const each = { streams, membersPerStream: Math.ceil(nodes / 2), ratePerS: rate }
      return (await import('../failover/failover-bench.ts')).failoverBench(
        { ...size, ...what, ...each },
        tell,
      )
    },
  ),
]
