import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { text } from 'node:stream/consumers'
import type { Laboratory, Place } from '../laboratory.ts'
import type { NatBehaviour } from '../nat-kinds.ts'

const programOf = (name: string) => fileURLToPath(new URL(`./${name}.ts`, import.meta.url))

/** Starts the public server that `probeNat` asks. It ends with the laboratory. */
export async function startResponder(laboratory: Laboratory): Promise<void> {
  const { stdout } = laboratory.spawn(
    laboratory.internet,
    process.execPath,
    [programOf('responder')],
    ['ignore', 'pipe', 'inherit'],
  )
  if (stdout) await once(stdout, 'data')
}

/** What is between a host and the public network, found out by sending and receiving. */
export async function probeNat(laboratory: Laboratory, { namespace, address }: Place): Promise<NatBehaviour> {
  const { stdout } = laboratory.spawn(
    namespace,
    process.execPath,
    [programOf('prober'), address],
    ['ignore', 'pipe', 'inherit'],
  )
  return JSON.parse(stdout ? await text(stdout) : '') as NatBehaviour
}
