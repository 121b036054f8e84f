import { existsSync } from 'node:fs'
import { explorerDirectory } from '@runnel/explorer'
import { thisProgram } from '../cli/program-name.ts'
import { shellWord } from '../cli/shell-word.ts'
import type { UpDirectory } from './directory.ts'
import { trackerAddresses, type LocalNetwork } from './local-network.ts'

/** What a person needs to know to use the network from another terminal; the commands can be copied as they stand, into any folder where the program can be started. */
export function welcome(network: LocalNetwork, directory: UpDirectory, startedInMs: number): string {
  const { chain, nodes, storage, streams, keyFiles } = network
  const program = thisProgram()
  const options = `--network ${shellWord(directory.networkFile)} --key ${shellWord(keyFiles.user)}`
  const ownerOptions = `--network ${shellWord(directory.networkFile)} --key ${shellWord(keyFiles.owner)}`
  const kind = network.permissioned ? 'private network' : 'network'
  return [
    `The ${kind} is running: ${nodes.length} nodes, started in ${(startedInMs / 1000).toFixed(1)} s.`,
    ...explorerAddress(network),
    `  chain     ${chain.url}`,
    ...trackerAddresses(network).map(({ id, url }) => `  tracker   ${url}  ${id}`),
    `  status    ${nodes[0].ready.httpUrl ?? ''}/v1/status  (of the publisher)`,
    `  storage   ${storage.ready.httpUrl ?? ''}/v1/storage  ${storage.ready.nodeId}`,
    `  private   ${streams.private}  encrypted for the owner and the user; the nodes cannot read it`,
    `  files     ${shellWord(directory.path)}: network file, keys, logs, stored messages`,
    '',
    'In another terminal:',
    ...Object.values(streams.measurements)
      .slice(0, 1)
      .flatMap((stream) => [
        `  ${program} subscribe ${stream} ${options}`,
        `  ${program} resend last 20 ${stream} ${options}`,
      ]),
    `  ${program} subscribe ${streams.lobby} ${options}`,
    `  echo '{"hello":"world"}' | ${program} publish ${streams.lobby} ${options}`,
    `  echo '{"hello":"friend"}' | ${program} publish ${streams.private} ${options}`,
    `  ${program} subscribe ${streams.private} --last 10 ${ownerOptions}`,
    `  ${program} stream list --network ${shellWord(directory.networkFile)}`,
    ...(network.permissioned ? [`  ${program} registry allow-node NODE ${ownerOptions}`] : []),
    '',
  ].join('\n')
}

/** Nothing where the page was not built. */
function explorerAddress({ trackers }: LocalNetwork): string[] {
  const [first] = trackers
  if (first?.ready.httpUrl === undefined || !existsSync(explorerDirectory)) return []
  return [`  explorer  ${first.ready.httpUrl}/explorer/  (open it in a browser)`]
}
