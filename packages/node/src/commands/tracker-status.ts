import Table from 'cli-table3'
import { openRegistry, shownUrl } from '@runnel/client'
import { defineCommand } from '../cli/command.ts'
import { networkOptions } from '../cli/common-options.ts'
import { readNetwork } from '../cli/network-source.ts'
import { printResult } from '../cli/output.ts'
import { plainLayout } from '../cli/plain-layout.ts'
import { printable } from '../cli/printable.ts'
import { askTracker, type TrackerState } from '../cli/tracker-state.ts'
import { nodeError } from '../errors.ts'

export const trackerStatus = defineCommand({
  name: 'tracker status',
  describe: 'Print the status of trackers: load, stream parts they lead, replicas, links to each other',
  positionals: { url: { describe: 'URL of one tracker. Default: all trackers of the network' } },
  options: { network: networkOptions.network },
  examples: [
    ['tracker status --network .runnel/up/network.json', 'A line for each tracker in the registry'],
    ['tracker status ws://127.0.0.1:30300', 'That tracker, and the others as it sees them'],
  ],
  epilogue: 'Fails if no tracker answers.',
  run: async ({ url, network, json }) => {
    if (url !== undefined && !/^(ws|http)s?:\/\/\S+$/.test(url))
      throw nodeError('USAGE', `"${shownUrl(url)}" is not a ws://, wss://, http:// or https:// URL`)
    const states = url === undefined ? await askAll(network) : [await askTracker(url)]
    const reasons = states.flatMap((state) => ('error' in state ? [`${state.url}: ${state.error}`] : []))
    if (reasons.length === states.length)
      throw nodeError('TRACKER_UNREACHABLE', reasons.join('; ') || 'none is registered')
    printResult(states, json, linesOf(states, url !== undefined))
  },
})

async function askAll(network: string | undefined): Promise<TrackerState[]> {
  const registry = await openRegistry({ network: readNetwork(network) })
  try {
    return await Promise.all(registry.directory.trackers.map(({ nodeId, url }) => askTracker(url, nodeId)))
  } finally {
    await registry.stop()
  }
}

function linesOf(states: readonly TrackerState[], withPeers: boolean): string[] {
  const head = ['tracker', 'url', 'nodes', 'stream parts', 'replicas', 'links', 'circuits out/in', 'cluster']
  const table = new Table({ ...plainLayout, head })
  for (const state of states) table.push(rowOf(state))
  const peers = withPeers ? states.flatMap(peerLines) : []
  return [...table.toString().replace(/ +$/gm, '').split('\n'), ...peers]
}

function rowOf(state: TrackerState): (string | number)[] {
  // A line break in a cell would be one of the table.
  const place = [state.nodeId ?? '?', printable(state.url)]
  if ('error' in state) return [...place, '', '', '', '', '', printable(state.error)]
  const { nodes, streamParts, cluster } = state
  if (cluster === undefined) return [...place, nodes, streamParts, '', '', '', 'none']
  const { replicas, circuitsOut, circuitsIn, trackers } = cluster
  const others = trackers.filter(({ self }) => !self)
  const links = `${others.filter(({ linked }) => linked).length} of ${others.length}`
  return [
    ...[...place, nodes, streamParts, replicas, links],
    ...[`${circuitsOut}/${circuitsIn}`, cluster.state],
  ]
}

/** The others, as a tracker sees them. */
function peerLines(state: TrackerState): string[] {
  if ('error' in state || state.cluster === undefined) return []
  return state.cluster.trackers
    .filter(({ self }) => !self)
    .map(({ nodeId, url, linked, error, load }) => {
      const link = linked ? 'linked' : `not linked${error === null ? '' : ` (${error})`}`
      const work = load === null ? '' : `, ${load.nodes} nodes, leads ${load.leads} stream parts`
      return `sees ${nodeId} ${url}: ${link}${work}`
    })
}
