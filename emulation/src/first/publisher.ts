/** Two nodes that publish, each in a stream of its own, to whoever is there. Its argument is a `FirstTask`. */
import { writeFileSync } from 'node:fs'
import { createClient, readNetworkFile, type RunnelClient } from '@runnel/client'
import { publishEveryMs, starts, transportsOf, type FirstTask, type PublishReport } from './first-plan.ts'
import { publishPictures } from './session-ends.ts'

const task = JSON.parse(process.argv[2] ?? '') as FirstTask
const { arm, networkFile, publisher, streamIds, clipFile } = task

const stopped = new Promise<void>((resolve) => {
  for (const event of ['disconnect', 'SIGTERM'] as const) process.once(event, () => resolve())
})

const clients = await Promise.all(
  starts.map(async (start, index) => {
    const listen = { host: publisher.address, port: publisher.port + index }
    const client = await createClient({
      network: readNetworkFile(networkFile),
      transports: { ...transportsOf(arm), ...(arm === 'websocket' && { websocket: { listen } }) },
    })
    const attached = new Promise<void>((resolve) =>
      client.network.on('tracker', (_, state) => {
        if (state === 'connected') resolve()
      }),
    )
    if (clipFile === undefined) await publishNumbers(client, streamIds[start])
    else await publishPictures(client, streamIds[start], clipFile)
    await attached
    return client
  }),
)

async function publishNumbers(client: RunnelClient, streamId: string): Promise<void> {
  let neighbours = 0
  client.network.on('neighbours', (_, present) => (neighbours = present.length))
  await client.subscribe(streamId, {}, () => {})
  let number = 0
  // What nobody hears is not sent: whoever comes would get all of it at once, and old messages are not what is waited for.
  setInterval(() => {
    if (neighbours > 0) client.publish(streamId, { number: number++ }).catch(fail)
  }, publishEveryMs)
}

function fail(error: unknown): void {
  process.stderr.write(`${String(error)}\n`)
  process.exitCode = 1
}

const [startMs, cpuAtStart] = [performance.now(), process.cpuUsage()]
process.send?.('ready')
await stopped
const { user, system } = process.cpuUsage(cpuAtStart)
const report: PublishReport = {
  cpuMs: (user + system) / 1_000,
  elapsedMs: performance.now() - startMs,
  rssBytes: process.memoryUsage().rss,
}
writeFileSync(task.recordFile, JSON.stringify(report))
await Promise.all(clients.map((client) => client.close()))
process.exit()
