import { readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { seededRandom, transportCode, type NodeId } from '@runnel/protocol'
import { ProximityWorld, type DelayTable } from '../../tracker/src/core/proximity.testkit.ts'
import { nodeId } from '../../tracker/src/core/tracker-core.testkit.ts'
import type { ClusterView } from '../../tracker/src/cluster/cluster-view.ts'
import { createHttpApi } from '../../tracker/src/http/http-api.ts'
import { createMetrics } from '../../tracker/src/http/metrics.ts'
import type { Places } from '../../tracker/src/http/places.ts'
import { predictionLimits, Predictions } from '../../tracker/src/http/predictions.ts'
import { loadStaticFiles } from '../../tracker/src/http/static-files.ts'

const table = JSON.parse(
  readFileSync(new URL('../../../sim/src/latency/aws-one-way-delays.json', import.meta.url), 'utf8'),
) as DelayTable

/** Where the regions of the table are: latitude and longitude of the cities they are named after. */
const regionPlaces: Readonly<Record<string, readonly [number, number, string]>> = {
  'us-east-1': [38.9, -77.4, 'N. Virginia'],
  'us-east-2': [40.0, -83.0, 'Ohio'],
  'us-west-1': [37.4, -122.0, 'N. California'],
  'us-west-2': [45.8, -119.7, 'Oregon'],
  'ca-central-1': [45.5, -73.6, 'Montreal'],
  'sa-east-1': [-23.5, -46.6, 'São Paulo'],
  'eu-west-1': [53.3, -6.3, 'Dublin'],
  'eu-west-2': [51.5, -0.1, 'London'],
  'eu-west-3': [48.9, 2.4, 'Paris'],
  'eu-central-1': [50.1, 8.7, 'Frankfurt'],
  'eu-north-1': [59.3, 18.1, 'Stockholm'],
  'eu-south-1': [45.5, 9.2, 'Milan'],
  'me-south-1': [26.1, 50.6, 'Bahrain'],
  'af-south-1': [-33.9, 18.4, 'Cape Town'],
  'ap-south-1': [19.1, 72.9, 'Mumbai'],
  'ap-southeast-1': [1.3, 103.8, 'Singapore'],
  'ap-southeast-2': [-33.9, 151.2, 'Sydney'],
  'ap-northeast-1': [35.7, 139.7, 'Tokyo'],
  'ap-northeast-2': [37.6, 127.0, 'Seoul'],
  'ap-northeast-3': [34.7, 135.5, 'Osaka'],
  'ap-east-1': [22.3, 114.2, 'Hong Kong'],
}

const trackerId = nodeId(0xffff)

/** The tracker as it sees itself. */
const aloneInCluster: ClusterView = {
  ...{ nodeId: trackerId, state: 'alone', peerId: null, addresses: [], leads: 1, replicas: 0 },
  ...{ circuitsOut: 0, circuitsIn: 0 },
  trackers: [
    {
      ...{ nodeId: trackerId, url: 'wss://tracker.example', peerId: null, self: true, linked: false },
      ...{ rttMs: null, load: null, error: null, addresses: [] },
    },
  ],
}

export interface DemoWorld {
  readonly world: ProximityWorld
  readonly url: string
  /** One of its nodes goes, and all are told. */
  churn(): void
  stop(): Promise<void>
}

/** Simulated nodes in the regions of the table around a real tracker core, with the real HTTP API and page. */
export async function startDemoWorld(options: {
  readonly nodes: number
  readonly directory: string
  /** How long the overlay has been improved, in simulated milliseconds. */
  readonly ageMs: number
}): Promise<DemoWorld> {
  const world = new ProximityWorld({ nodes: options.nodes, table, seed: 'explorer' })
  world.transport = (from, to) => transportCode(linkOf(from, to))
  world.run(options.ageMs)
  for (const id of world.places.keys()) {
    const role = isReachable(id) ? 'node' : 'page'
    const name = isReachable(id) ? `relay ${numberOf(id)}` : ''
    world.story.packet(id, { type: 'about', role, version: '0.1.0', name })
  }
  const { core } = world.story
  const predictions = new Predictions(
    { processingMs: 0.3, limits: predictionLimits },
    { random: seededRandom('demo'), nowMs: () => performance.now(), turn: () => Promise.resolve() },
  )
  let server: Server | undefined
  const api = createHttpApi(
    {
      nodeId: trackerId,
      places: { ...placesIn(world), [trackerId]: { latitude: 60.2, longitude: 24.9, name: 'Helsinki' } },
      serverFactory: (handler) => (server = createServer(handler)),
    },
    {
      ...{ core, metrics: createMetrics(core), predictions, nowMs: () => performance.now() },
      explorer: loadStaticFiles(options.directory),
      clusterView: () => aloneInCluster,
    },
  )
  await api.ready()
  const listening = Promise.withResolvers<void>()
  server?.listen(0, '127.0.0.1', listening.resolve)
  await listening.promise
  const { port } = server?.address() as AddressInfo
  return {
    world,
    url: `http://127.0.0.1:${port}`,
    churn: () => {
      const [first] = world.places.keys()
      if (first !== undefined) world.leave(first)
      world.run(2_000)
    },
    stop: async () => {
      server?.closeAllConnections()
      await api.close()
      await new Promise((resolve) => (server ? server.close(resolve) : resolve(undefined)))
    },
  }
}

const numberOf = (id: NodeId): number => Number.parseInt(id.slice(-4), 16)

/** Some can be dialled, as in a real network; the others have WebRTC only. */
const isReachable = (id: NodeId): boolean => numberOf(id) % 4 === 0

/** Where neither end can be dialled, one link in eight needs a relay. */
function linkOf(a: NodeId, b: NodeId) {
  if (isReachable(a) || isReachable(b)) return { kind: 'websocket', relayed: false }
  return { kind: 'webrtc', relayed: (numberOf(a) + numberOf(b)) % 8 === 0 }
}

function placesIn(world: ProximityWorld): Places {
  const places = [...world.places.keys()].map((id) => {
    const region = table.regions[world.regionOf(id)] ?? ''
    const [latitude, longitude, name] = regionPlaces[region] ?? [0, 0, region]
    return [id, { latitude, longitude, name }] as const
  })
  return Object.fromEntries(places)
}
