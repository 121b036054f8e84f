// Brings up a place, prints where everything is, and waits: to be killed.
import { ControlClient } from '../../control/control-client.ts'
import { NamespacesPlace } from './namespaces-place.ts'

const place = new NamespacesPlace({ latency: 'cities' })
const { tracker, nodes } = await place.start(
  { nodes: 2, links: 'websocket', degree: 4, overlay: 'random' },
  AbortSignal.timeout(100_000),
)
const infos = await Promise.all([tracker, ...nodes].map(({ control }) => new ControlClient(control).info()))
process.stdout.write(`${JSON.stringify(infos.map(({ pid }) => pid))}\n`)
