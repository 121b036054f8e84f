import { existsSync } from 'node:fs'
import { relative } from 'node:path'
import { explorerDirectory } from '@runnel/explorer'
import type { UpDirectory } from './directory.ts'
import { trackerAddresses, type LocalNetwork } from './local-network.ts'

/** What a person needs to know to use the network from another terminal; the commands can be copied as they stand. */
export function welcome(network: LocalNetwork, directory: UpDirectory, startedInMs: number): string {
  const { chain, nodes, storage, streams, keyFiles } = network
  const options = `--network ${pathFromHere(directory.networkFile)} --key ${pathFromHere(keyFiles.user)}`
  const ownerOptions = `--network ${pathFromHere(directory.networkFile)} --key ${pathFromHere(keyFiles.owner)}`
  const kind = network.permissioned ? 'private network' : 'network'
  return [
    `The ${kind} runs: ${nodes.length} nodes, started in ${(startedInMs / 1000).toFixed(1)} s.`,
    ...explorerAddress(network),
    `  chain     ${chain.url}`,
    ...trackerAddresses(network).map(({ id, url }) => `  tracker   ${url}  ${id}`),
    `  status    ${nodes[0].ready.httpUrl ?? ''}/v1/status  (of the publisher)`,
    `  storage   ${storage.ready.httpUrl ?? ''}/v1/storage  ${storage.ready.nodeId}`,
    `  private   ${streams.private}  encrypted, for the owner and the user: the nodes cannot read it`,
    `  files     ${pathFromHere(directory.path)}: network file, keys, logs, stored messages`,
    '',
    'In another terminal:',
    ...Object.values(streams.measurements)
      .slice(0, 1)
      .flatMap((stream) => [
        `  npx runnel subscribe ${stream} ${options}`,
        `  npx runnel resend last 20 ${stream} ${options}`,
      ]),
    `  npx runnel subscribe ${streams.lobby} ${options}`,
    `  echo '{"hello":"world"}' | npx runnel publish ${streams.lobby} ${options}`,
    `  echo '{"hello":"friend"}' | npx runnel publish ${streams.private} ${options}`,
    `  npx runnel subscribe ${streams.private} --last 10 ${ownerOptions}`,
    `  npx runnel stream list --network ${pathFromHere(directory.networkFile)}`,
    ...(network.permissioned ? [`  npx runnel registry allow-node NODE ${ownerOptions}`] : []),
    '',
  ].join('\n')
}

/** Nothing where the page was not built. */
function explorerAddress({ trackers }: LocalNetwork): string[] {
  const [first] = trackers
  if (first?.ready.httpUrl === undefined || !existsSync(explorerDirectory)) return []
  return [`  explorer  ${first.ready.httpUrl}/explorer/  (open it in a browser)`]
}

/** Quoted where a shell would take it apart. */
function pathFromHere(path: string): string {
  const short = relative(process.cwd(), path) || '.'
  const chosen = short.startsWith('..') ? path : short
  return /^[\w./@%+-]+$/.test(chosen) ? chosen : `'${chosen.replaceAll("'", `'\\''`)}'`
}
