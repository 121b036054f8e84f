import { setTimeout as delay } from 'node:timers/promises'
import { createLogUpdate } from 'log-update'
import { notice } from '../cli/output.ts'
import type { LocalNetwork } from './local-network.ts'
import { statusLine, statusTable } from './table.ts'
import { snapshotsOf } from './watch.ts'

/** How often a terminal is redrawn. */
const redrawEveryMs = 1000
/** How often a log gets a line, where there is no terminal. */
const logEveryMs = 10_000

/** Shows how the network is doing until asked to stop: a table that redraws itself, or now and then a line where there is no terminal. */
export async function showLive(network: LocalNetwork, signal: AbortSignal): Promise<void> {
  const publisherId = network.nodes[0].ready.nodeId
  const redraw = process.stdout.isTTY ? createLogUpdate(process.stdout) : undefined
  while (!signal.aborted) {
    const snapshots = await snapshotsOf(network)
    if (redraw) redraw(`${statusTable(snapshots, publisherId)}\nCtrl-C stops the network.`)
    else notice(statusLine(snapshots, publisherId))
    await delay(redraw ? redrawEveryMs : logEveryMs, undefined, { signal }).catch(() => {})
  }
  redraw?.done()
}
