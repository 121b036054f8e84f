import { join } from 'node:path'
import type { StaticNetwork } from '@runnel/client'
import { createIdentity, generatePrivateKey, loadCrypto, toStreamId } from '@runnel/protocol'
import { systemRandom } from '@runnel/protocol/system'
import { ControlClient } from '../control/control-client.ts'
import { RunnelProcess } from '../places/processes/runnel-process.ts'
import type { SessionHost } from './session-host.ts'

/** Of streams for sound and pictures: docs/media.md. */
const partitions = 4

/** A network for sessions: one tracker, and a stream for each session, that is everybody's. */
export interface SessionNetwork {
  readonly source: { readonly kind: 'static'; readonly document: StaticNetwork }
  streamId(session: number): string
  /** Idempotent. */
  stop(): Promise<void>
}

/** Starts the tracker. Rejects with PROCESS_FAILED. */
export async function startSessionNetwork(
  { sessions, host, directory }: { sessions: number; host: SessionHost; directory: string },
  { signal, onDeath }: { signal: AbortSignal; onDeath: (how: string) => void },
): Promise<SessionNetwork> {
  const key = generatePrivateKey(systemRandom)
  const { nodeId } = createIdentity(key, await loadCrypto())
  const socket = join(directory, 'tracker.sock')
  const tracker = new RunnelProcess({
    name: 'tracker',
    args: ['tracker', `--host=${host.address}`, '--port=0', `--control-socket=${socket}`, '--no-explorer'],
    env: { RUNNEL_PRIVATE_KEY: Buffer.from(key).toString('hex') },
    logFile: join(directory, 'tracker.log'),
    within: (command) => host.within(command),
    onDeath,
  })
  await tracker.start(signal)
  const { websocketUrl: url } = await new ControlClient(`unix:${socket}`).info()
  const streamId = (session: number) => toStreamId(`${nodeId}/session-${session}`)
  const document: StaticNetwork = {
    version: 1,
    trackers: [{ nodeId, url }],
    streams: Array.from({ length: sessions }, (_, session) => ({
      ...{ id: streamId(session), partitions },
      permissions: [{ user: 'public', publish: true, subscribe: true }],
    })),
  }
  return { source: { kind: 'static', document }, streamId, stop: () => tracker.stop() }
}
