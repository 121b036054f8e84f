import { createClient, type StaticNetwork } from '@runnel/client'
import { createIdentity, loadCrypto, parsePrivateKey } from '@runnel/protocol'
import { VirtualClock } from '@runnel/transport'
import { afterEach, describe, expect, it } from 'vitest'
import { tellOfRevocation } from './tell-of-revocation.ts'

const ownerId = `0x${'ab'.repeat(20)}`
const streamId = `${ownerId}/private`
const privateKey = '5e'.repeat(32)
const { nodeId: userId } = createIdentity(parsePrivateKey(privateKey), await loadCrypto())
const untilMs = Date.UTC(2099, 0, 1)

let close = async () => {}
afterEach(() => close())

/** What is told of a reader whose permission ends at that time, or never, as time passes to after it. */
async function told(subscribe: string | boolean, nowMs: number): Promise<readonly string[]> {
  const streams = [{ id: streamId, permissions: [{ user: userId, subscribe }] }]
  const document: StaticNetwork = { version: 1, trackers: [], streams }
  const client = await createClient({ network: { kind: 'static', document }, privateKey })
  const clock = new VirtualClock({ startMs: nowMs })
  const said: string[] = []
  const telling = tellOfRevocation(client, streamId, { clock, say: (text) => said.push(text) })
  close = () => client.close().then(() => telling)
  await client.permissionsOf(streamId, userId)
  await new Promise(setImmediate)
  clock.advanceBy(60_000)
  await client.permissionsOf(streamId, userId)
  await new Promise(setImmediate)
  return said
}

describe('a person who reads a stream', () => {
  it('is told when the permission ends by time, of which no event tells', async () => {
    const said = await told(new Date(untilMs).toISOString(), untilMs - 30_000)
    expect(said).toHaveLength(1)
    expect(said[0]).toContain('it ended at 2099-01-01T00:00:00.000Z (NO_SUBSCRIBE_PERMISSION). ')
  })

  it('is told nothing while the permission goes on, nor twice where it had ended before', async () => {
    expect(await told(true, untilMs)).toEqual([])
    await close()
    expect(await told(new Date(untilMs).toISOString(), untilMs + 1)).toEqual([])
  })
})
