import { beginPhase, showProgress } from '../phase.ts'
import { bareDataChannelPair } from '../bare/bare-data-channel.ts'
import { bareWebSocketPair } from '../bare/bare-websocket.ts'
import { percentile, round } from '../statistics.ts'
import { Swarm, type BenchTransport } from '../swarm.ts'
import { LiveJoins } from './live-joins.ts'

/**
 * A node joins a live stream part: the time from its start (tracker connection, handshakes and links included) to its
 * first message. Only messages published after the start count, so that no cache flatters the figure.
 */
export async function joinBench({
  transport,
  verify,
  nodes,
  joins,
}: {
  transport: BenchTransport
  verify: boolean
  nodes: number
  joins: number
}) {
  beginPhase('overlay')
  const swarm = await Swarm.start({ transport, verify })
  await swarm.grow(nodes)
  const live = new LiveJoins(swarm)
  const timesMs: number[] = []
  beginPhase('joins')
  showProgress(() => `${timesMs.length} of ${joins} nodes have a first message`)
  for (let i = 0; i < joins; i++) timesMs.push(await live.join())
  await live.stop()
  const bareMs: number[] = []
  beginPhase('bare links')
  showProgress(() => `${bareMs.length} of ${joins} opened`)
  for (let i = 0; i < joins; i++) bareMs.push(await bareOpenMs(transport))
  return {
    bench: 'join',
    transport,
    verify,
    nodes,
    joins,
    firstMessageMs: { p50: round(percentile(timesMs, 0.5)), p95: round(percentile(timesMs, 0.95)) },
    baseline: {
      what: 'opening one bare link of the same transport',
      openMs: { p50: round(percentile(bareMs, 0.5)), p95: round(percentile(bareMs, 0.95)) },
    },
    ratio: { p50: round(percentile(timesMs, 0.5) / percentile(bareMs, 0.5)) },
  }
}

async function bareOpenMs(transport: BenchTransport): Promise<number> {
  const startMs = performance.now()
  const pair = await (transport === 'websocket' ? bareWebSocketPair() : bareDataChannelPair())
  const elapsedMs = performance.now() - startMs
  pair.forEach((end) => end.close())
  return elapsedMs
}
