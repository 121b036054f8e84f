import { setTimeout as delay } from 'node:timers/promises'
import { createLogUpdate } from 'log-update'
import { notice, type Output } from '../cli/output.ts'
import type { LocalNetwork } from './local-network.ts'
import { statusFigures, statusLine, statusTable } from './table.ts'
import { snapshotsOf } from './watch.ts'

/** How often a terminal is redrawn, and how often a program is told. */
const redrawEveryMs = 1000
/** How often a log gets a line if there is no terminal. */
const logEveryMs = 10_000

/** Aborted with another signal, or when the reader of an output is gone. */
export function whileRead({ closed }: Output, signal: AbortSignal): AbortSignal {
  const gone = new AbortController()
  void closed.then(() => gone.abort())
  return AbortSignal.any([signal, gone.signal])
}

/** Shows how the network is doing until asked to stop: a table that redraws itself, or now and then a line where there is no terminal. */
export async function showLive(network: LocalNetwork, signal: AbortSignal): Promise<void> {
  const publisherId = network.nodes[0].ready.nodeId
  const redraw = process.stdout.isTTY ? createLogUpdate(process.stdout) : undefined
  while (!signal.aborted) {
    const snapshots = await snapshotsOf(network)
    if (redraw) redraw(`${statusTable(snapshots, publisherId)}\nCtrl-C stops the network.`)
    else notice(statusLine(statusFigures(snapshots, publisherId)))
    await delay(redraw ? redrawEveryMs : logEveryMs, undefined, { signal }).catch(() => {})
  }
  redraw?.done()
}

/** Prints where the network is, and then every second how it is doing, a line of JSON each. */
export async function printLive(
  network: LocalNetwork,
  networkFile: string,
  signal: AbortSignal,
): Promise<void> {
  const { chain, streams, trackers, nodes, storage, keyFiles } = network
  const print = (line: unknown) => process.stdout.write(`${JSON.stringify(line)}\n`)
  const [publisher] = nodes
  print({
    ...{ networkFile, keyFiles, streams, chain: chain.url },
    trackers: trackers.map(({ ready }) => ({ id: ready.nodeId, url: ready.url, httpUrl: ready.httpUrl })),
    status: `${publisher.ready.httpUrl}/v1/status`,
    storage: { id: storage.ready.nodeId, httpUrl: storage.ready.httpUrl },
  })
  while (!signal.aborted) {
    print(statusFigures(await snapshotsOf(network), publisher.ready.nodeId))
    await delay(redrawEveryMs, undefined, { signal }).catch(() => {})
  }
}
