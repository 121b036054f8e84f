import { afterAll, describe, expect, it } from 'vitest'
import type { ClusterView } from '@runnel/tracker'
import { newDirectory, startRunnel, stopAll, type RunningCommand } from '../cli.testkit.ts'
import type { Child } from './child.ts'
import { claimDirectory, type UpDirectory } from './directory.ts'
import { startLocalNetwork, startTracker, type LocalNetworkOptions } from './local-network.ts'
import { buildReport } from './report.ts'
import { measuredParts, snapshotsOf, waitForDelivery, waitForOverlays } from './watch.ts'

/** A network of processes, each of whose trackers is started twice. */
const timeoutMs = 300_000
const signal = new AbortController().signal

afterAll(stopAll, timeoutMs)

async function clusterOf(tracker: Child): Promise<ClusterView> {
  return (await (await fetch(`${tracker.ready.httpUrl ?? ''}/v1/cluster`)).json()) as ClusterView
}

/** Resolves when all trackers are linked, and every node has come home. */
async function untilSettled(trackers: readonly Child[]): Promise<void> {
  for (;;) {
    const views = await Promise.all(trackers.map(clusterOf))
    const isSettled = ({ circuitsOut, trackers: seen }: ClusterView) =>
      circuitsOut === 0 && seen.length === trackers.length && seen.every(({ self, linked }) => self || linked)
    if (views.every(isSettled)) return
  }
}

type RestartOptions = Pick<LocalNetworkOptions, 'degree' | 'logLevel' | 'onDeath'>

interface Message {
  readonly timestamp: number
  readonly previous: { readonly timestamp: number } | null
}

/** What a subscriber was given, in the order in which it was. */
function messagesOf(subscriber: RunningCommand): Message[] {
  const lines = subscriber.stdout().split('\n').slice(0, -1)
  return lines.map((line) => JSON.parse(line) as Message)
}

/** Stops each tracker and starts it again, at the same address; `running` are those that run. */
async function restartEach(running: Child[], directory: UpDirectory, options: RestartOptions): Promise<void> {
  for (const [index, tracker] of [...running].entries()) {
    await tracker.stop()
    const port = Number(new URL(tracker.ready.url ?? '').port)
    running[index] = await startTracker(directory, options, index, port)
    await untilSettled(running)
  }
}

describe('restarting every tracker in turn', { timeout: timeoutMs }, () => {
  it('loses, repeats and reorders nothing of what flows meanwhile', async () => {
    const directory = claimDirectory(newDirectory())
    const died: string[] = []
    const onDeath = (child: Child, how: string) => died.push(`${child.name}: ${how}`)
    const options = { degree: 4, logLevel: 'warn', onDeath } as const
    const network = await startLocalNetwork(directory, {
      ...options,
      ...{ nodes: 6, trackers: 3, websocketShare: 0.5, intervalMs: 50, permissioned: false },
      ...{ chainPort: 0, trackerPort: 0, signal, onProgress: () => {} },
    })
    const trackers = [...network.trackers]
    try {
      const wait = { timeoutMs: 120_000, signal }
      expect(await waitForOverlays(network, 4, wait)).toBe(true)
      const [publisher] = network.nodes
      publisher.publish()
      const stream = network.streams.measurements.cpu
      const args = ['subscribe', stream, '--network', directory.networkFile, '--meta']
      const subscriber = startRunnel(args, { cwd: directory.path })
      await subscriber.said('"timestamp"')
      await restartEach(trackers, directory, options)
      const published = (await publisher.pause())?.plugins.measurements?.published ?? []
      expect(await waitForDelivery(network, published, wait)).toBe(true)
      const last = published.find(({ streamId }) => streamId === stream)?.last?.timestamp ?? 0
      await subscriber.said(`"timestamp":${last},`)
      const messages = messagesOf(subscriber)
      messages
        .slice(1)
        .forEach(({ previous }, index) => expect(previous?.timestamp).toBe(messages[index]?.timestamp))
      const snapshots = await snapshotsOf(network)
      const own = snapshots.find(({ nodeId }) => nodeId === publisher.ready.nodeId)
      if (own === undefined) throw new Error('the publisher is gone')
      const report = buildReport({
        publisher: own,
        subscribers: snapshots.filter((each) => each !== own && each.plugins.storage === undefined),
        storage: snapshots.filter(({ plugins }) => plugins.storage !== undefined),
        ...{ published, streamPartIds: measuredParts(network), degreesExact: true, died },
        ...{ startedInMs: 0, publishedForMs: 0, trackers: [] },
      })
      for (const { missing, repeated } of report.nodes) expect([missing, repeated]).toEqual([0, 0])
      expect(report).toMatchObject({ complete: true, died: [] })
      expect(report.nodes).toHaveLength(6)
    } finally {
      await Promise.all(trackers.map((tracker) => tracker.stop()))
      await network.stop()
      directory.release()
    }
  })
})
