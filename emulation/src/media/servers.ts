import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createIdentity, generatePrivateKey, loadCrypto, toStreamId, type StreamId } from '@runnel/protocol'
import { systemRandom } from '@runnel/protocol/system'
import { ControlClient } from '../control/control-client.ts'
import type { OverlayKind } from '../places/place.ts'
import { networkDocument } from '../places/processes/network-document.ts'

const port = 30_300
/** Sound, small pictures, large ones, screens. */
const partitions = 4

/** Runs a `runnel` process on the host of that name, with the flags of its control socket; resolves when it runs. */
export type RunProcess = (
  name: string,
  args: readonly string[],
  env?: Readonly<Record<string, string>>,
) => Promise<void>

export interface ServerPlace {
  readonly name: string
  readonly address: string
  /** Of everything that is written: the control sockets, named as their processes, and the network file. */
  readonly directory: string
}

/** Of all members, in the directory. */
export const networkFileOf = (directory: string): string => join(directory, 'network.json')

/** Starts a tracker, and writes the network file, which has one stream of it. Gives the stream's id. */
export async function startTracker(
  { name, address, directory }: ServerPlace,
  { degree, overlay }: { readonly degree: number; readonly overlay: OverlayKind },
  run: RunProcess,
): Promise<StreamId> {
  const key = generatePrivateKey(systemRandom)
  const { nodeId } = createIdentity(key, await loadCrypto())
  const flags = [`--host=${address}`, `--port=${port}`, `--degree=${degree}`, `--overlay=${overlay}`]
  await run(name, ['tracker', ...flags, '--no-explorer'], {
    RUNNEL_PRIVATE_KEY: Buffer.from(key).toString('hex'),
  })
  const control = new ControlClient(`unix:${join(directory, `${name}.sock`)}`)
  const { websocketUrl: url } = await control.info()
  const id = toStreamId(`${nodeId}/experiment`)
  const document = networkDocument({ nodeId, url }, { id, partitions })
  writeFileSync(networkFileOf(directory), JSON.stringify(document), { mode: 0o600 })
  return id
}

/** Starts a node that serves light clients, and gives its URL. */
export async function startRelay(
  { name, address, directory }: ServerPlace,
  run: RunProcess,
): Promise<string> {
  const flags = [`--network=${networkFileOf(directory)}`, '--http-enabled=false', '--guests-serve']
  const listens = ['--websocket-listen', `--websocket-host=${address}`, `--websocket-port=${port}`]
  await run(name, ['node', ...flags, ...listens])
  return `ws://${address}:${port}`
}
