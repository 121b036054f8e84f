/** A process that starts, and then joins another stream: when it reached what. Its argument is a `FirstTask`. */
import { setTimeout as delay } from 'node:timers/promises'
import { createClient, readNetworkFile, type RunnelClient } from '@runnel/client'
import {
  startLimitMs,
  transportsOf,
  type FirstTask,
  type JoinReport,
  type Start,
  type StartReport,
} from './first-plan.ts'
import { firstPicture } from './session-ends.ts'
import { StageWatch, watchLinks } from './stage-watch.ts'

const task = JSON.parse(process.argv[2] ?? '') as FirstTask
const { goal, arm, networkFile, publisher, streamIds } = task
/** Between the two, so that nothing of the first is under way any more. */
const restMs = 500

for (const event of ['disconnect', 'SIGTERM'] as const) process.once(event, () => process.exit())

let watch = new StageWatch()
let streamId = streamIds.cold
watchLinks(publisher.address, () => watch)

/** Resolves when the first one came. */
async function firstMessage(client: RunnelClient, id: string, own: StageWatch): Promise<void> {
  const first = Promise.withResolvers<void>()
  await client.subscribe(id, {}, () => {
    own.reach('message')
    first.resolve()
  })
  await first.promise
}

async function comeTo(client: RunnelClient, start: Start): Promise<StartReport> {
  const own = watch
  const first = { message: firstMessage, frame: firstPicture }[goal]
  await Promise.race([first(client, streamIds[start], own), delay(startLimitMs)])
  const { streamParts } = client.network.metrics()
  const part = streamParts.find(({ streamPartId }) => streamPartId.startsWith(streamIds[start]))
  const { transport, path } = part?.neighbours[0] ?? {}
  return { stages: own.times, side: own.side, transport, path }
}

const processMs = performance.now()
watch = new StageWatch()
const client = await createClient({
  network: readNetworkFile(networkFile),
  transports: transportsOf(arm),
})
watch.reach('registry')
client.network.on('tracker', (_, state) => {
  if (state === 'connected') watch.reach('tracker')
})
client.network.on('neighbours', (streamPartId, neighbours) => {
  if (streamPartId.startsWith(streamId) && neighbours.length > 0) watch.reach('handshake')
})
const cold = await comeTo(client, 'cold')
await delay(restMs)
streamId = streamIds.warm
watch = new StageWatch()
const warm = await comeTo(client, 'warm')
const { user, system } = process.cpuUsage()
const report: JoinReport = {
  ...{ cold, warm, processMs, cpuMs: (user + system) / 1_000 },
  rssBytes: process.memoryUsage().rss,
}
await client.close()
// It is ended by the driver, which would take an end of its own for a failure.
process.send?.(report)
