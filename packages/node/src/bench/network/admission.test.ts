import { afterAll, expect, it } from 'vitest'
import type { StaticNetwork } from '@runnel/client'
import { toStreamId } from '@runnel/protocol'
import type { Doing } from '../core/plan.ts'
import { requireAdmission } from './admission.ts'
import { startOwnNetwork } from './own-network.ts'

const owner = `0x${'2'.repeat(40)}`
const streamId = toStreamId(`${owner}/bench`)
const stops: (() => Promise<void>)[] = []
afterAll(async () => {
  for (const stop of stops) await stop()
})

const doing = (over: Partial<Doing>): Doing => ({
  ...{ kind: 'light', subscribes: false, publishersPerPart: 0, history: 0 },
  ...over,
})

/** A network whose tracker is not there, and whose stream lets anybody do only this. */
function targetWith(allowed: { readonly publish?: boolean; readonly subscribe?: boolean }) {
  const permissions = [{ user: 'public' as const, ...allowed }]
  const document: StaticNetwork = {
    version: 1,
    trackers: [{ nodeId: `0x${'1'.repeat(40)}`, url: 'ws://127.0.0.1:1' }],
    streams: [{ id: streamId, permissions }],
  }
  const parts = [{ streamId, partition: 0 }]
  return { source: { kind: 'static' as const, document }, user: undefined, parts }
}

it.each([
  ['subscribe', { publish: true }, { subscribes: true }, 'NO_SUBSCRIBE_PERMISSION'],
  ['publish', { subscribe: true }, { subscribes: true, publishersPerPart: 2 }, 'NO_PUBLISH_PERMISSION'],
  ['read history', { publish: true }, { history: 5 }, 'NO_SUBSCRIBE_PERMISSION'],
])('says that users may not %s, before it asks a tracker', async (_, allowed, over, code) => {
  await expect(requireAdmission(targetWith(allowed), doing(over))).rejects.toMatchObject({ code })
})

it('lets users in who may do what they will do', async () => {
  const { signal } = new AbortController()
  const options = { nodes: 0, parts: 1, degree: 4, encrypted: false, storage: false, gateways: false }
  const network = await startOwnNetwork({ ...options, signal, onProgress: () => {} })
  stops.push(() => network.stop())
  await requireAdmission(network, doing({ subscribes: true, publishersPerPart: 1 }))
  await requireAdmission(network, doing({ publishersPerPart: 1 }))
}, 60_000)
