import { rpcUrlsOf } from '@runnel/contracts'
import { httpUrlOf } from '../cli/tracker-state.ts'
import { networkByDefault, readNetwork, type DescribedNetwork } from '../cli/network-source.ts'
import type { BrokerConfig } from '../config/schema.ts'
import type { TrackerAddress } from '@runnel/network'
import { createStore, storeConfigOf } from '@runnel/storage'
import { systemClock } from '@runnel/protocol/system'
import { checkClock } from './check-clock.ts'
import { checkDisk } from './check-disk.ts'
import { checkKey, checkUser } from './check-key.ts'
import { checkEndpoints } from './check-endpoints.ts'
import { checkNat } from './check-nat.ts'
import { checkRegistries, checkTrackers } from './check-network.ts'
import { checkPort, type ListenAddress } from './check-ports.ts'
import { checkPublicUrl } from './check-public-url.ts'
import { checkStore } from './check-store.ts'
import { failureOf, ok, type Finding } from './finding.ts'
import { iceServersOf, stunAddressesOf } from './tracker-ice-servers.ts'

/** Trackers that are asked which STUN servers they name. */
const maxNamingTrackers = 3

type Environment = Readonly<Record<string, string | undefined>>

/** How long this node may take to say that it runs, in milliseconds. */
const ownAnswerMs = 2_000

/** Looks at all that a node with this configuration needs, whether it runs or not. Changes nothing. */
export async function examine(config: BrokerConfig, env: Environment): Promise<Finding[]> {
  const { finding: ofKey, nodeId } = await checkKey({ key: config.key, env })
  const isRunning = nodeId !== undefined && (await nodeAt(config)) === nodeId
  return [
    ofKey,
    ...(config.as === undefined ? [] : [checkUser(config.as)]),
    ...(await networkFindings(config)),
    ...(await placeFindings(config, isRunning)),
  ]
}

async function networkFindings(config: BrokerConfig): Promise<Finding[]> {
  let file: string
  let network: DescribedNetwork
  try {
    file = config.network ?? networkByDefault()
    network = readNetwork(file)
  } catch (error) {
    return [failureOf('network', error)]
  }
  const { finding, trackers } = await checkRegistries(network)
  const clocks = [
    ...trackers.map(({ url }) => httpUrlOf(url)),
    ...(network.kind === 'chain' ? rpcUrlsOf(network) : []),
  ]
  // Without the registries nothing is known of trackers.
  const ofTrackers = finding.state === 'ok' ? await checkTrackers(trackers) : []
  const ofEndpoints = network.kind === 'chain' ? await checkEndpoints(network) : []
  const isReached = ofTrackers.some(({ state }) => state === 'ok')
  return [
    ok('network', file),
    finding,
    ...ofEndpoints,
    ...ofTrackers,
    ...(isReached ? [await natFinding(trackers)] : []),
    await checkClock(clocks),
  ]
}

/** By the servers that the first trackers name. */
async function natFinding(trackers: readonly TrackerAddress[]): Promise<Finding> {
  const named = await Promise.all(trackers.slice(0, maxNamingTrackers).map(iceServersOf))
  const byPlace = new Map(stunAddressesOf(named.flat()).map((one) => [`${one.hostname} ${one.port}`, one]))
  return checkNat([...byPlace.values()])
}

async function placeFindings(config: BrokerConfig, isRunning: boolean): Promise<Finding[]> {
  const { websocket, storage } = config
  const findings: Finding[] = []
  for (const address of addressesOf(config)) findings.push(await checkPort(address, isRunning))
  if (websocket.listen && websocket.publicUrl !== undefined)
    findings.push(await checkPublicUrl(websocket.publicUrl, websocket, isRunning))
  if (!storage.enabled) return [...findings, checkDisk({ directory: '.', maxBytes: 0, file: undefined })]
  const file =
    storage.engine === 'sqlite'
      ? createStore(storeConfigOf(storage), { clock: systemClock }).location
      : undefined
  const directory = file === undefined ? '.' : storage.directory
  findings.push(checkDisk({ directory, maxBytes: file === undefined ? 0 : storage.maxBytes, file }))
  return [...findings, await checkStore(storage, isRunning)]
}

function addressesOf({ websocket, tcp, http }: BrokerConfig): ListenAddress[] {
  return [
    ...(websocket.listen ? [{ setting: 'websocket' as const, ...websocket }] : []),
    ...(tcp.enabled && tcp.listen ? [{ setting: 'tcp' as const, ...tcp }] : []),
    ...(http.enabled ? [{ setting: 'http' as const, ...http }] : []),
  ]
}

/** The id of the node that answers where this one would; undefined when none does. */
async function nodeAt({ http }: BrokerConfig): Promise<unknown> {
  if (!http.enabled || http.port === 0) return undefined
  const host = http.host === '0.0.0.0' ? '127.0.0.1' : http.host === '::' ? '[::1]' : http.host
  try {
    const answer = await fetch(`http://${host}:${http.port}/health`, {
      signal: AbortSignal.timeout(ownAnswerMs),
    })
    return ((await answer.json()) as { readonly nodeId?: unknown }).nodeId
  } catch {
    return undefined
  }
}
