import { toNodeId, toStreamId, toStreamPartId } from '@runnel/protocol'
import { afterEach, describe, expect, it } from 'vitest'
import type { NodeSnapshot } from '../../snapshot.ts'
import type { Plugin, PluginContext } from '../plugin.ts'
import { httpPlugin } from './http-plugin.ts'

const nodeId = toNodeId(`0x${'a'.repeat(40)}`)
const streamPartId = toStreamPartId(toStreamId(`${nodeId}/x`), 0)
const snapshot: NodeSnapshot = {
  nodeId,
  pid: 1,
  websocketUrl: undefined,
  cryptoBackend: 'native',
  uptimeMs: 5,
  chainEndpoints: [],
  trackers: [{ nodeId, connected: true }],
  streams: {
    isRead: true,
    followed: [{ streamId: toStreamId(`${nodeId}/x`), state: 'joined', partitions: 1 }],
    ignoredParts: 4,
  },
  isReplaced: false,
  admissionProblem: undefined,
  clockProblem: undefined,
  counters: { 'data.publisherDenied': 3, 'links.open': 4 },
  streamParts: [
    { streamPartId, neighbours: [], wantedNeighbours: 4, delivered: 7, duplicates: 2, published: 1 },
  ],
  plugins: { other: { works: true } },
}

describe('httpPlugin', () => {
  const plugin = httpPlugin.create({ enabled: true, host: '127.0.0.1', port: 0 })
  const other: Plugin = {
    start: async () => {},
    stop: async () => {},
    routes: (server) => server.get('/v1/other', () => 'other'),
    metrics: () => [{ type: 'counter', name: 'asked', help: 'Times it was asked.', value: 5 }],
  }
  afterEach(() => plugin.stop())

  it('serves health, status and metrics, and what other plugins add', async () => {
    const started = new Map([['otherOne', other]])
    await plugin.start({ snapshot: () => snapshot, started } as Partial<PluginContext> as PluginContext)
    const get = async (path: string) => (await fetch(`${plugin.url}${path}`)).text()
    expect(JSON.parse(await get('/health'))).toEqual({
      ...{ status: 'ok', nodeId, uptimeMs: 5 },
      ...{ trackers: [nodeId], streams: 1, streamParts: 1 },
    })
    expect(JSON.parse(await get('/ready'))).toEqual({ ready: true, nodeId, reasons: [] })
    expect(JSON.parse(await get('/v1/status'))).toEqual(JSON.parse(JSON.stringify(snapshot)))
    const metrics = await get('/metrics')
    expect(metrics).toContain('runnel_data_publisher_denied_total 3')
    expect(metrics).toContain('runnel_links_open 4')
    expect(metrics).toContain('runnel_ready 1')
    expect(metrics).toContain('runnel_streams{state="joined"} 1')
    expect(metrics).toContain('runnel_streams_ignored_parts 4')
    expect(metrics).toContain('runnel_crypto_backend_info{backend="native"} 1')
    expect(metrics).toContain(`runnel_stream_part_delivered_total{stream_part="${streamPartId}"} 7`)
    expect(metrics).toContain(`runnel_tracker_connected{tracker="${nodeId}"} 1`)
    expect(metrics).toContain('process_cpu_user_seconds_total')
    expect(metrics).toContain('runnel_other_one_asked_total 5')
    expect(await get('/v1/other')).toBe('other')
    // Asked again, a counter has not doubled.
    expect(await get('/metrics')).toContain('runnel_data_publisher_denied_total 3')
  })
})
