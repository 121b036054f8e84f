import { openRegistry, shownUrl, type NetworkSource, type RegistryService } from '@runnel/client'
import { rpcSecrets } from '@runnel/contracts'
import type { TrackerAddress } from '@runnel/network'
import { askTracker } from '../cli/tracker-state.ts'
import { describeError } from '../cli/describe-error.ts'
import { withTracker } from './dial-tracker.ts'
import { failure, failureOf, ok, warning, type Finding } from './finding.ts'

/** Trackers asked. */
const maxTrackers = 16

/** How long a tracker may take to accept a WebSocket, in milliseconds. */
const dialTimeoutMs = 5_000

/** What is known of the network's registries. */
export interface RegistryFindings {
  readonly finding: Finding
  readonly trackers: readonly TrackerAddress[]
}

/** Whether the chain answers, is the right one, and has the registries; or what stands in the document instead. */
export async function checkRegistries(network: NetworkSource): Promise<RegistryFindings> {
  try {
    const registry = await openRegistry({ network })
    const { trackers } = registry.directory
    await registry.stop()
    const source =
      network.kind === 'chain'
        ? `chain ${registry.chainId} at ${rpcSecrets(network.rpcUrl).shown}, with the registries`
        : network.kind === 'document'
          ? `a signed document, without a chain${revisionText(registry.endpoints)}`
          : 'none: the network file lists trackers and streams'
    return { finding: ok('chain', source), trackers }
  } catch (error) {
    return { finding: failureOf('chain', error), trackers: [] }
  }
}

function revisionText(sources: RegistryService['endpoints']): string {
  const revision = Math.max(0, ...sources.map(({ block }) => block))
  return revision === 0 ? '' : `: revision ${revision}`
}

/** Whether each tracker takes WebSockets, and is the one that it should be. */
export async function checkTrackers(trackers: readonly TrackerAddress[]): Promise<Finding[]> {
  const remedy = 'Check that the network has trackers: runnel registry show.'
  if (trackers.length === 0) return [failure('trackers', 'the network lists none', remedy)]
  const findings = await Promise.all(trackers.slice(0, maxTrackers).map(checkTracker))
  // One is enough.
  const isReached = findings.some(({ state }) => state !== 'error')
  return findings.map((finding) =>
    finding.state === 'error' && isReached ? { ...finding, state: 'warning' } : finding,
  )
}

async function checkTracker({ nodeId, url }: TrackerAddress): Promise<Finding> {
  const [check, shown] = ['trackers', shownUrl(url)]
  const remedy = 'Check that it is running, and that no firewall or proxy blocks the way.'
  const problem = await openWebSocket(url)
  if (problem !== undefined) return failure(check, `${shown} does not accept WebSockets: ${problem}`, remedy)
  const refusal = await refusalOf({ nodeId, url })
  if (refusal !== undefined) {
    const other = 'Correct its registered address, or its id: runnel registry show.'
    return failure(check, `${shown} accepts WebSockets, but not as this tracker: ${refusal}`, other)
  }
  const answer = await askTracker(url, nodeId)
  if ('error' in answer) {
    const other =
      'Nodes can use it; runnel tracker status and the explorer cannot. A proxy may forward only WebSockets.'
    return warning(check, `${shown} accepts nodes, but over HTTP: ${answer.error}`, other)
  }
  return ok(check, `${shown} answers, with ${answer.nodes} nodes`)
}

/** Why a node cannot connect to it; undefined when it can. */
async function refusalOf(tracker: TrackerAddress): Promise<string | undefined> {
  try {
    await withTracker(tracker, () => Promise.resolve())
    return undefined
  } catch (error) {
    return describeError(error).message
  }
}

/** As the WebSocket of Node.js has it. */
interface ConnectError {
  readonly message: string
  readonly cause?: { readonly message?: string; readonly code?: string }
}

/** Undefined when it opened, else why not. */
export function openWebSocket(url: string): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>()
  const socket = new WebSocket(url)
  const timeout = setTimeout(() => resolve('no answer'), dialTimeoutMs)
  socket.addEventListener('open', () => resolve(undefined))
  socket.addEventListener('error', (event) => {
    const { error, message } = event as Event & { readonly error?: ConnectError; readonly message: string }
    const said = [error?.cause?.message, error?.cause?.code, error?.message, message]
    resolve(said.find((text) => text !== undefined && text !== '') ?? 'no connection')
  })
  return promise.finally(() => {
    clearTimeout(timeout)
    socket.close()
  })
}
