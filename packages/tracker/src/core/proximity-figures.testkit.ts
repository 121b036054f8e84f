// Prints how good topology-aware overlays get, how soon, and what it costs:
//   node --conditions=runnel-src packages/tracker/src/core/proximity-figures.testkit.ts TABLE [LAST-MILE-MS [NODES...]]
// TABLE is a JSON file with `regions` and `oneWayMs`, a square table of one-way delays in milliseconds.
import { readFileSync } from 'node:fs'
import { ProximityWorld, type DelayTable } from './proximity.testkit.ts'

const [file = '', lastMile = '0', ...sizes] = process.argv.slice(2)
const table = JSON.parse(readFileSync(file, 'utf8')) as DelayTable
const lastMileMs = Number(lastMile)

for (const nodes of sizes.length > 0 ? sizes.map(Number) : [64, 256, 1024, 2048]) {
  const world = new ProximityWorld({ nodes, table, lastMileMs })
  let cpuMs = 0
  for (const seconds of [0.5, 29.5, 30, 60, 120, 240, 240]) {
    const startMs = process.cpuUsage().user / 1000
    world.run(1_000 * seconds)
    cpuMs += process.cpuUsage().user / 1000 - startMs
    const { counters } = world.story.core
    console.log(
      JSON.stringify({
        nodes,
        lastMileMs,
        atS: (world.story.now - 1_000) / 1_000,
        rdp: Number(world.rdp().toFixed(3)),
        newNeighboursPerNode: Number(((2 * counters.get('edgesExchanged')) / nodes).toFixed(1)),
        refused: counters.get('exchangesRefused'),
        disputed: counters.get('rttsDisputed'),
        cpuMs: Math.round(cpuMs),
      }),
    )
  }
}
