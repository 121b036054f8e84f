import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { text } from 'node:stream/consumers'
import { untilAborted } from '@runnel/protocol'
import type { Laboratory, Place } from '../laboratory.ts'
import type { NatBehaviour } from '../nat-kinds.ts'

const programOf = (name: string) => fileURLToPath(new URL(`./${name}.ts`, import.meta.url))

/** Starts the public server that `probeNat` asks. It ends with the laboratory. Rejects when it does not start, or the signal aborts. */
export async function startResponder(laboratory: Laboratory, signal: AbortSignal): Promise<void> {
  const { stdout } = laboratory.spawn(
    laboratory.internet,
    process.execPath,
    [programOf('responder')],
    ['ignore', 'pipe', 'inherit'],
  )
  if (stdout === null) return
  const ended = once(stdout, 'end').then(() => Promise.reject(new Error('the responder has ended')))
  await untilAborted(Promise.race([once(stdout, 'data'), ended]), signal)
}

/** What is between a host and the public network, found out by sending and receiving. Rejects when the signal aborts. */
export async function probeNat(
  laboratory: Laboratory,
  { namespace, address }: Place,
  signal: AbortSignal,
): Promise<NatBehaviour> {
  const { stdout } = laboratory.spawn(
    namespace,
    process.execPath,
    [programOf('prober'), address],
    ['ignore', 'pipe', 'inherit'],
  )
  return JSON.parse(stdout ? await untilAborted(text(stdout), signal) : '') as NatBehaviour
}
