/**
 * An application for the soak: publishes steadily, takes it with a second client, reads stored messages again and again, and
 * lets further clients come, catch up and go. Arguments: network file, stream, file for measurements, milliseconds between two.
 */
import { appendFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { createClient, readNetworkFile } from '@runnel/client'

const publishEveryMs = 50
const resendEveryMs = 5_000
const visitEveryMs = 15_000
const resentMessages = 200
/** A visitor catches up with so many and takes a few more. */
const visitorMessages = { stored: 50, all: 60 }

const [networkFile = '', streamId = '', measurements = '', everyMs = ''] = process.argv.slice(2)
const stop = new AbortController()
const { signal } = stop
for (const event of ['disconnect', 'SIGTERM'] as const) process.once(event, () => stop.abort())

const open = () => createClient({ network: readNetworkFile(networkFile) })
const counts = { published: 0, delivered: 0, resent: 0, visits: 0 }
let delaysMs: number[] = []

/** Does the work again and again until the end; what ends it early but that is a fault. */
async function repeat(pauseMs: number, work: () => Promise<void>): Promise<void> {
  while (!signal.aborted) {
    await work()
    await delay(pauseMs, undefined, { signal, ref: true }).catch(() => {})
  }
}

const [publisher, subscriber] = await Promise.all([open(), open()])
await subscriber.subscribe<{ readonly sentMs: number }>(streamId, {}, ({ content }) => {
  counts.delivered++
  delaysMs.push(Date.now() - content.sentMs)
})

async function publish(): Promise<void> {
  await publisher.publish(streamId, { sentMs: Date.now(), number: counts.published })
  counts.published++
}

async function resend(): Promise<void> {
  for await (const message of subscriber.resend(streamId, { last: resentMessages })) {
    if (message.content === undefined) throw new Error('a stored message is empty')
    counts.resent++
  }
}

async function visit(): Promise<void> {
  const visitor = await open()
  try {
    const subscription = await visitor.subscribe(streamId, {
      resend: { last: visitorMessages.stored },
      signal,
    })
    let taken = 0
    for await (const message of subscription)
      if (message.content !== undefined && ++taken === visitorMessages.all) break
    counts.visits++
  } catch (error) {
    if (!signal.aborted) throw error
  } finally {
    await visitor.close()
  }
}

function measure(): Promise<void> {
  const sorted = delaysMs.toSorted((a, b) => a - b)
  delaysMs = []
  const at = (share: number): number | undefined => sorted[Math.floor(share * (sorted.length - 1))]
  const measured = { atMs: Date.now(), delayP50Ms: at(0.5), delayP99Ms: at(0.99), ...counts }
  appendFileSync(measurements, `${JSON.stringify(measured)}\n`)
  return Promise.resolve()
}

process.send?.('ready')
await Promise.all([
  repeat(publishEveryMs, publish),
  repeat(resendEveryMs, resend),
  repeat(visitEveryMs, visit),
  repeat(Number(everyMs), measure),
])
await Promise.all([publisher.close(), subscriber.close()])
process.exit()
