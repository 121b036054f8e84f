import { resolve } from 'node:path'
import { notice, standardOutput } from '../cli/output.ts'
import { nodeError } from '../errors.ts'
import type { Child } from './child.ts'
import { claimDirectory, type UpDirectory } from './directory.ts'
import { printLive, showLive, whileRead } from './live-view.ts'
import { startLocalNetwork, type LocalNetwork, type LocalNetworkOptions } from './local-network.ts'
import { measuredRun } from './measured-run.ts'
import type { UpReport } from './report.ts'
import { statusTable } from './table.ts'
import { snapshotsOf, waitForOverlays } from './watch.ts'
import { welcome } from './welcome.ts'

/** How long the overlays may take to be complete. */
const overlayTimeoutMs = 60_000

export interface RunUpOptions extends Omit<LocalNetworkOptions, 'onDeath'> {
  readonly directory: string
  /** Publish for this long, report and end; undefined: until the signal. */
  readonly publishForMs: number | undefined
  /** On stdout nothing but JSON: the report, or line by line how the network is doing. */
  readonly json: boolean
}

/** Runs a local network, live or for a measured time. Throws UP_CHILD_DIED or UP_INCOMPLETE when not all went well. */
export async function runUp(options: RunUpOptions): Promise<void> {
  const directory = claimDirectory(resolve(options.directory))
  const died: string[] = []
  const onDeath = (child: Child, how: string) => {
    died.push(`${child.name}: ${how}`)
    notice(`${child.name} ended unexpectedly (${how}); the run is incomplete`)
  }
  try {
    const startMs = performance.now()
    const network = await startLocalNetwork(directory, { ...options, onDeath })
    try {
      void network.chain.closed().then((error) => error && died.push(`chain: ${error.message}`))
      await use(network, directory, startMs, options, died)
    } finally {
      notice('stopping')
      await network.stop()
    }
  } finally {
    directory.release()
  }
  if (died.length > 0) throw nodeError('UP_CHILD_DIED', died.join('; '))
}

async function use(
  network: LocalNetwork,
  directory: UpDirectory,
  startMs: number,
  options: RunUpOptions,
  died: readonly string[],
): Promise<void> {
  const { degree, publishForMs, signal, json } = options
  const isComplete = await waitForOverlays(network, degree, { timeoutMs: overlayTimeoutMs, signal })
  const startedInMs = Math.round(performance.now() - startMs)
  const write = json
    ? (text: string) => process.stderr.write(text)
    : (text: string) => process.stdout.write(text)
  if (!isComplete) notice('the overlays were not complete in time; see the logs')
  write(`${welcome(network, directory, startedInMs)}\n`)
  if (publishForMs === undefined) {
    network.nodes[0].publish()
    const wanted = whileRead(standardOutput(), signal)
    await (json ? printLive(network, directory.networkFile, wanted) : showLive(network, wanted))
    return
  }
  const report = await measuredRun(network, {
    publishForMs,
    degree,
    startedInMs,
    signal,
    died: () => [...died],
  })
  await printReport(report, network, json)
  if (!isComplete || !report.complete) throw nodeError('UP_INCOMPLETE', summaryOf(report))
}

async function printReport(report: UpReport, network: LocalNetwork, json: boolean): Promise<void> {
  if (json) {
    process.stdout.write(`${JSON.stringify(report)}\n`)
    return
  }
  process.stdout.write(`${statusTable(await snapshotsOf(network), network.nodes[0].ready.nodeId)}\n`)
  process.stdout.write(`${report.complete ? 'complete' : 'INCOMPLETE'}: ${summaryOf(report)}\n`)
}

function summaryOf({ messagesPublished, nodes, storage, degreesExact }: UpReport): string {
  const subscribers = nodes.filter(({ role }) => role === 'subscriber')
  const short = subscribers.filter(({ missing, repeated }) => missing > 0 || repeated > 0).length
  const stored = storage.reduce((sum, { storedMessages }) => sum + storedMessages, 0)
  return `${messagesPublished} messages to ${subscribers.length} subscribers, ${short} of which did not get each message exactly once; ${stored} stored; degrees ${degreesExact ? 'exact' : 'not exact'}`
}
