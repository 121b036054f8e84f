import { bareDataChannelPair } from '../bare/bare-data-channel.ts'
import { bareWebSocketPair } from '../bare/bare-websocket.ts'
import { messageNumber, Source, Swarm, type BenchTransport } from '../swarm.ts'
import { percentile, round } from '../statistics.ts'

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
  const swarm = await Swarm.start({ transport, verify })
  await swarm.grow(nodes)
  const source = new Source(swarm)
  const feed = setInterval(() => swarm.nodes[0]?.publish(source.next(1).bytes), 10)
  const timesMs: number[] = []
  for (let i = 0; i < joins; i++) timesMs.push(await oneJoin(swarm, source))
  clearInterval(feed)
  await swarm.stop()
  const bareMs: number[] = []
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

async function oneJoin(swarm: Swarm, source: Source): Promise<number> {
  const node = swarm.createNode()
  const startMs = performance.now()
  const firstNumber = source.count
  const first = new Promise<number>((resolve) =>
    node.on('message', ({ message }) => {
      if (messageNumber(message.content) >= firstNumber) resolve(performance.now() - startMs)
    }),
  )
  await node.start()
  node.join(swarm.streamPartId)
  const elapsedMs = await first
  await node.stop()
  return elapsedMs
}

async function bareOpenMs(transport: BenchTransport): Promise<number> {
  const startMs = performance.now()
  const pair = await (transport === 'websocket' ? bareWebSocketPair() : bareDataChannelPair())
  const elapsedMs = performance.now() - startMs
  pair.forEach((end) => end.close())
  return elapsedMs
}
