import { toNodeId, toStreamId, toStreamPartId } from '@runnel/protocol'
import { afterEach, describe, expect, it } from 'vitest'
import type { NodeSnapshot } from '../../snapshot.ts'
import type { PluginContext } from '../plugin.ts'
import { createHttpPlugin } from './http-plugin.ts'

const nodeId = toNodeId(`0x${'a'.repeat(40)}`)
const streamPartId = toStreamPartId(toStreamId(`${nodeId}/x`), 0)
const snapshot: NodeSnapshot = {
  nodeId,
  pid: 1,
  websocketUrl: undefined,
  cryptoBackend: 'native',
  uptimeMs: 5,
  trackers: [{ nodeId, connected: true }],
  counters: { 'data.publisherDenied': 3, 'links.open': 4 },
  streamParts: [
    { streamPartId, neighbours: [], wantedNeighbours: 4, delivered: 7, duplicates: 2, published: 1 },
  ],
  observed: [],
  latencyMs: undefined,
  published: [],
  storage: undefined,
}

describe('createHttpPlugin', () => {
  const plugin = createHttpPlugin({ enabled: true, host: '127.0.0.1', port: 0 }, () => snapshot)
  afterEach(() => plugin.stop())

  it('serves health, status and metrics', async () => {
    await plugin.start({} as PluginContext)
    const get = async (path: string) => (await fetch(`${plugin.url}${path}`)).text()
    expect(JSON.parse(await get('/health'))).toEqual({ status: 'ok', nodeId, uptimeMs: 5 })
    expect(JSON.parse(await get('/v1/status'))).toEqual(JSON.parse(JSON.stringify(snapshot)))
    const metrics = await get('/metrics')
    expect(metrics).toContain('runnel_data_publisher_denied_total 3')
    expect(metrics).toContain('runnel_links_open 4')
    expect(metrics).toContain('runnel_crypto_backend_info{backend="native"} 1')
    expect(metrics).toContain(`runnel_stream_part_delivered_total{stream_part="${streamPartId}"} 7`)
    expect(metrics).toContain(`runnel_tracker_connected{tracker="${nodeId}"} 1`)
    expect(metrics).toContain('process_cpu_user_seconds_total')
    // Asked again, a counter has not doubled.
    expect(await get('/metrics')).toContain('runnel_data_publisher_denied_total 3')
  })
})
