import { limits, seededRandom, toStreamId, toStreamPartId } from '@runnel/protocol'
import { describe, expect, it } from 'vitest'
import { nodeId, partA, partB, statusOf, storing, TrackerStory } from '../core/tracker-core.testkit.ts'
import type { ClusterState } from '../cluster/cluster-view.ts'
import { createHttpApi, type HttpApiOptions } from './http-api.ts'
import { listingLimits, Listing } from './listing.ts'
import { createMetrics } from './metrics.ts'
import { predictionLimits, Predictions, type PredictionLimits } from './predictions.ts'
import { requestLimits } from './request-rates.ts'
import type { StaticFiles } from './static-files.ts'
import type { TopologyView } from './views.ts'

type Extras = Pick<HttpApiOptions, 'places' | 'publicNetwork'> & {
  readonly explorer?: StaticFiles
  readonly clusterState?: () => ClusterState
}

function apiOf(story: TrackerStory, limits: PredictionLimits = predictionLimits, extras: Extras = {}) {
  const { explorer, clusterState, ...options } = extras
  const { core } = story
  const predictions = new Predictions(
    { processingMs: 0.3, limits },
    { random: seededRandom('api'), nowMs: () => story.now, turn: () => Promise.resolve() },
  )
  return createHttpApi(
    { nodeId: nodeId(999), ...options },
    {
      core,
      metrics: createMetrics(core),
      predictions,
      nowMs: () => story.now,
      ...(explorer && { explorer }),
      ...(clusterState && { clusterState, clusterView: () => expect.fail('costs too much') }),
    },
  )
}

function storyOf(nodes: number): TrackerStory {
  const story = new TrackerStory()
  for (let n = 1; n <= nodes; n++) story.join(nodeId(n))
  story.advance(1_000)
  return story
}

const topologyUrl = `/v1/stream-parts/${encodeURIComponent(partA)}/topology`
const propagationUrl = `/v1/stream-parts/${encodeURIComponent(partA)}/propagation`

describe('the HTTP API', () => {
  it('tells an overlay with the mean of both ends as round-trip time', async () => {
    const story = storyOf(3)
    const report = (to: number, rttMs: number) => ({
      ...statusOf(partA, 9),
      neighbours: [{ nodeId: nodeId(to), rttMs }],
    })
    story.packet(nodeId(1), report(2, 10))
    story.packet(nodeId(2), report(1, 20))
    story.packet(nodeId(3), report(1, 7))
    const response = await apiOf(story).inject(topologyUrl)
    expect(response.statusCode).toBe(200)
    const view = response.json<TopologyView>()
    expect(view).toMatchObject({
      streamPartId: partA,
      nodeCount: 3,
      edgeCount: 3,
      nodes: [1, 2, 3].map(nodeId),
    })
    expect(new Map(view.edges.map(({ a, b, rttMs }) => [`${Number(a)}-${Number(b)}`, rttMs]))).toEqual(
      new Map<string, number | null>([
        ['1-2', 15],
        ['1-3', 7],
        ['2-3', null],
      ]),
    )
  })

  it('tells of each edge what it was made for and by what its ends say they are linked', async () => {
    const story = new TrackerStory({ overlay: 'topology-aware' })
    for (const n of [1, 2, 3, 4]) story.join(nodeId(n))
    const says = (from: number, ...to: (readonly [number, number?])[]) =>
      story.packet(nodeId(from), {
        ...statusOf(partA, 9),
        neighbours: to.map(([n, transport]) => ({
          ...{ nodeId: nodeId(n), rttMs: undefined },
          ...(transport !== undefined && { transport }),
        })),
      })
    const edges = async () => {
      const view = (await apiOf(story).inject(topologyUrl)).json<TopologyView>()
      return view.edges
        .map(({ a, b, transport, relayed, near }) => [Number(a), Number(b), transport, relayed, near])
        .toSorted()
    }
    const [websocket, webrtc, byTurn, tcp, later] = [1, 2, 3, 4, 200]
    says(1, [2, websocket], [3, tcp], [4, webrtc])
    says(2, [1, websocket], [3, webrtc], [4, later])
    says(3, [1, webrtc], [2, byTurn])
    expect(await edges()).toEqual([
      [1, 2, 'websocket', false, false],
      [1, 3, null, false, false],
      [1, 4, 'webrtc', false, false],
      [2, 3, 'webrtc', true, false],
      [2, 4, null, false, false],
      [3, 4, null, false, false],
    ])
    // What a status leaves open is as before; a neighbour that is gone and is there again is told anew.
    says(1, [2], [4])
    says(3, [1, tcp], [2])
    says(1, [2], [3], [4, 0])
    expect(await edges()).toEqual([
      [1, 2, 'websocket', false, false],
      [1, 3, 'tcp', false, false],
      [1, 4, null, false, false],
      [2, 3, 'webrtc', true, false],
      [2, 4, null, false, false],
      [3, 4, null, false, false],
    ])
  })

  it('tells what nodes say of themselves, until they connect again', async () => {
    const story = storyOf(3)
    story.packet(nodeId(1), { type: 'about', role: 'storage', version: '1.2.3', name: '<b>Attic</b>' })
    story.packet(nodeId(2), { type: 'about', role: 'page', version: '', name: '' })
    const app = apiOf(story)
    const nodes = async () => {
      const answer = (await app.inject('/v1/nodes')).json<{ nodes: readonly Record<string, unknown>[] }>()
      return answer.nodes.map(({ role, version, name }) => [role, version, name])
    }
    const nothing = [null, null, null]
    expect(await nodes()).toEqual([['storage', '1.2.3', '<b>Attic</b>'], ['page', null, null], nothing])
    story.open(nodeId(1))
    expect(await nodes()).toEqual([nothing, ['page', null, null], nothing])
  })

  it('tells where nodes are, of those of whom it knows', async () => {
    const place = { latitude: 60.2, longitude: 24.9, name: 'Helsinki' }
    const places = { [nodeId(2)]: place, [nodeId(7)]: place }
    const view = (await apiOf(storyOf(3), undefined, { places }).inject(topologyUrl)).json<TopologyView>()
    expect(view.places).toEqual({ [nodeId(2)]: place })
  })

  it('finds stream parts and nodes', async () => {
    const story = storyOf(20)
    story.packet(nodeId(1), statusOf(partB))
    const app = apiOf(story)
    const part = (await app.inject(`/v1/stream-parts?contains=${encodeURIComponent('/b#')}`)).json<object>()
    expect(part).toMatchObject({ total: 1, streamParts: [{ streamPartId: partB }] })
    expect((await app.inject('/v1/stream-parts?contains=zzz')).json()).toMatchObject({ total: 0 })
    const longest = encodeURIComponent(`${nodeId(1)}/${'x'.repeat(limits.maxStreamPathBytes)}#100`)
    expect((await app.inject(`/v1/stream-parts?contains=${longest}`)).json()).toMatchObject({ total: 0 })
    const start = nodeId(16).slice(0, 41)
    expect((await app.inject(`/v1/nodes?prefix=${start}&limit=2`)).json()).toMatchObject({
      total: 2,
      next: 17,
      nodes: [{ nodeId: nodeId(16) }, { nodeId: nodeId(17) }],
    })
    expect((await app.inject(`/v1/nodes?prefix=${nodeId(18)}`)).json()).toMatchObject({
      ...{ total: 1, next: null, nodes: [{ nodeId: nodeId(18) }] },
    })
  })

  it('says which network it is in only when it is told to', async () => {
    const story = storyOf(1)
    expect((await apiOf(story).inject('/v1/network')).statusCode).toBe(404)
    const publicNetwork = { version: 1, streams: [] }
    const told = await apiOf(story, undefined, { publicNetwork }).inject('/v1/network')
    expect(told.json()).toEqual(publicNetwork)
  })

  it('pages an overlay so that every edge comes once', async () => {
    const story = storyOf(25)
    const app = apiOf(story)
    const edges: string[] = []
    for (const offset of [0, 10, 20]) {
      const view = (await app.inject(`${topologyUrl}?offset=${offset}&limit=10`)).json<TopologyView>()
      expect(view.nodes.length).toBe(offset === 20 ? 5 : 10)
      edges.push(...view.edges.map(({ a, b }) => a + b))
    }
    expect(edges.length).toBe(50)
    expect(new Set(edges).size).toBe(50)
  })

  it('foretells how long messages take', async () => {
    const story = storyOf(2)
    const app = apiOf(story)
    expect((await app.inject(propagationUrl)).json()).toMatchObject({ streamPartId: partA, delays: null })
    story.advance(predictionLimits.predictionFreshMs)
    story.packet(nodeId(1), { ...statusOf(partA, 9), neighbours: [{ nodeId: nodeId(2), rttMs: 10 }] })
    const response = await app.inject(propagationUrl)
    expect(response.statusCode).toBe(200)
    expect(response.json()).toEqual({
      streamPartId: partA,
      processingMs: 0.3,
      delays: { meanMs: 5.3, p99Ms: 5.3, sources: 2, nodes: 2, edges: 1, measuredEdges: 1 },
    })
  })

  it('says when it is asked to foretell too much', async () => {
    const story = storyOf(2)
    const app = apiOf(story, { ...predictionLimits, maxWaitingPredictions: 0 })
    const response = await app.inject(propagationUrl)
    expect([response.statusCode, response.json<{ code: string }>().code]).toEqual([
      503,
      'TOO_MANY_PREDICTIONS',
    ])
  })

  it('lists stream parts and nodes', async () => {
    const app = apiOf(storyOf(6))
    expect((await app.inject('/v1/stream-parts')).json()).toEqual({
      total: 1,
      offset: 0,
      next: null,
      streamParts: [
        {
          streamPartId: partA,
          overlay: 'random',
          nodeCount: 6,
          edgeCount: 12,
          storageNodeCount: 0,
          storageNodes: [],
        },
      ],
    })
    expect((await app.inject('/v1/nodes?limit=1&offset=2')).json()).toEqual({
      total: 6,
      offset: 2,
      next: 3,
      nodes: [
        {
          ...{ nodeId: nodeId(3), connected: true, role: null, version: null, name: null },
          ...{ streamPartCount: 1, streamParts: [partA] },
        },
      ],
    })
  })

  it('shows who stores a stream part, a few of them when there are many', async () => {
    const story = storyOf(20)
    const storedBy = async () =>
      (await apiOf(story).inject('/v1/stream-parts')).json<{ streamParts: { storageNodes: string[] }[] }>()
    for (const n of [3, 5]) story.packet(nodeId(n), storing(partA))
    expect(await storedBy()).toMatchObject({
      streamParts: [{ storageNodeCount: 2, storageNodes: [nodeId(3), nodeId(5)] }],
    })
    for (let n = 1; n <= 20; n++) story.packet(nodeId(n), storing(partA))
    const [part] = (await storedBy()).streamParts
    expect(part).toMatchObject({ storageNodeCount: 20 })
    expect(part?.storageNodes).toHaveLength(16)
  })

  it('says that it is well, and its counts', async () => {
    const app = apiOf(storyOf(6))
    expect((await app.inject('/health')).json()).toEqual({
      status: 'ok',
      nodeId: nodeId(999),
      nodes: 6,
      streamParts: 1,
    })
    const metrics = await app.inject('/metrics')
    expect(metrics.headers['content-type']).toContain('text/plain')
    expect(metrics.body).toContain('runnel_tracker_joins_total 6\n')
    expect(metrics.body).toContain('runnel_tracker_nodes 6\n')
    expect((await app.inject('/metrics')).body).toContain('runnel_tracker_joins_total 6\n')
  })

  it.each<[ClusterState | 'none', number, string[]]>([
    ['none', 200, []],
    ['alone', 200, []],
    ['joined', 200, []],
    ['unregistered', 503, ['NOT_REGISTERED']],
    ['failed', 503, ['CLUSTER_FAILED']],
  ])('says whether it is ready, at no cost: cluster %s', async (state, status, codes) => {
    const app = apiOf(storyOf(1), undefined, state === 'none' ? {} : { clusterState: () => state })
    const answer = await app.inject('/ready')
    expect(answer.statusCode).toBe(status)
    const { ready, reasons } = answer.json<{ ready: boolean; reasons: { code: string }[] }>()
    expect([ready, reasons.map(({ code }) => code)]).toEqual([status === 200, codes])
    expect((await app.inject('/health')).statusCode).toBe(200)
  })

  it('bounds the bytes of every answer, and gives all there is page by page', async () => {
    const story = new TrackerStory()
    const path = 'x'.repeat(180)
    const partOf = (n: number) =>
      toStreamPartId(toStreamId(`0x${'ab'.repeat(20)}/${path}${Math.floor(n / 100)}`), n % 100)
    for (let n = 1; n <= 100; n++) {
      story.connect(nodeId(n))
      for (let part = 0; part < 40; part++) story.packet(nodeId(n), statusOf(partOf(40 * n + part)))
    }
    const app = apiOf(story)
    for (const [list, count] of [
      ['nodes', 100],
      ['streamParts', 4_000],
    ] as const) {
      const found: object[] = []
      for (let next: number | null = 0; next !== null;) {
        const url: string = `/v1/${list === 'nodes' ? 'nodes' : 'stream-parts'}?offset=${next}`
        const response: { readonly body: string } = await app.inject(url)
        expect(response.body.length).toBeLessThan(listingLimits.maxAnswerBytes + 10_000)
        const answer = JSON.parse(response.body) as {
          next: number | null
          nodes?: object[]
          streamParts?: object[]
        }
        found.push(...(answer[list] ?? []))
        next = answer.next
      }
      expect(found).toHaveLength(count)
      expect(new Set(found.map((item) => JSON.stringify(item))).size).toBe(count)
    }
    const { nodes } = (await app.inject('/v1/nodes?limit=1')).json<{ nodes: object[] }>()
    expect(nodes).toMatchObject([{ streamPartCount: 40, streamParts: { length: 16 } }])
  })

  it('looks at so many ids in one search, and says where to go on', () => {
    const ids = Array.from({ length: 50_000 }, (_, n) => `id ${n}`)
    const listing = new Listing(new Map(ids.map((id) => [id, id])))
    let looked = 0
    const matches = (id: string) => looked++ >= 0 && id.endsWith(' 45000')
    const request = { limit: 10, matches, show: (id: string) => id }
    const first = listing.page({ ...request, offset: 0 }, 0)
    expect([first, looked]).toEqual([{ total: 0, next: 20_000, items: [] }, 20_000])
    expect(listing.page({ ...request, offset: 40_000 }, 0)).toEqual({
      total: 1,
      next: null,
      items: ['id 45000'],
    })
  })

  it('refuses a network that asks too often, and no other', async () => {
    const story = storyOf(1)
    const app = apiOf(story)
    const ask = async (remoteAddress: string) =>
      (await app.inject({ url: '/v1/nodes', remoteAddress })).statusCode
    for (let i = 0; i < requestLimits.viewBurst; i++) expect(await ask(`192.0.2.${i % 250}`)).toBe(200)
    expect([await ask('192.0.2.7'), await ask('198.51.100.7')]).toEqual([429, 200])
    expect((await app.inject({ url: '/health', remoteAddress: '192.0.2.7' })).statusCode).toBe(200)
    expect(story.core.counters.get('viewsRefused')).toBe(1)
    story.advance(1_000)
    expect(await ask('192.0.2.7')).toBe(200)
  })

  it('may be read by pages of any origin', async () => {
    const response = await apiOf(storyOf(1)).inject({
      url: '/health',
      headers: { origin: 'https://example.org' },
    })
    expect(response.headers['access-control-allow-origin']).toBe('*')
  })

  for (const [url, status] of [
    ['/v1/stream-parts?limit=1001', 400],
    ['/v1/stream-parts?limit=0', 400],
    ['/v1/nodes?limit=101', 400],
    ['/v1/nodes?offset=-1', 400],
    ['/v1/nodes?offset=x', 400],
    ['/v1/nodes?page=2', 400],
    ['/v1/nodes?prefix=zz', 400],
    [`/v1/stream-parts?contains=${'x'.repeat(251)}`, 400],
    ['/v1/network', 404],
    ['/explorer/', 404],
    ['/v1/stream-parts/nonsense/topology', 400],
    [`/v1/stream-parts/${'x'.repeat(2_000)}/topology`, 414],
    [`${propagationUrl}?limit=1`, 400],
    [propagationUrl.replace('a%230', 'b%230'), 404],
    [topologyUrl.replace('%23', '%'), 400],
    [topologyUrl.replace('a%230', 'b%230'), 404],
    ['/nothing', 404],
  ] as const) {
    it(`answers ${status} to ${url.slice(0, 60)}`, async () => {
      expect((await apiOf(storyOf(1)).inject(url)).statusCode).toBe(status)
    })
  }
})
