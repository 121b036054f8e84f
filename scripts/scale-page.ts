// Writes docs/SCALE.md from what was measured and assumed:  node --conditions=runnel-src scripts/scale-page.ts
import { writeFileSync } from 'node:fs'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { assumptions, costs, type Input } from './scale/inputs.ts'
import { nodeNeeds, storageNeeds, trackerNeeds, valuesOf } from './scale/network-needs.ts'

/** Messages a second in each stream. */
const rates = [0.01, 0.1, 1]

/** The page as it must stand in docs/SCALE.md. */
export function scalePage(): string {
  const [network, cost] = [valuesOf(assumptions), valuesOf(costs)]
  const trackers = trackerNeeds(network, cost)
  const improving = trackerNeeds(network, { ...cost, trackerIdleUsPerS: cost.trackerImprovingUsPerS })
  const stores = rates.map((rate) => storageNeeds(network, cost, rate))
  const nodes = rates.map((rate) => nodeNeeds(network, cost, rate))
  const totals = stores.map(({ euroPerMonth }) => euroPerMonth + trackers.euroPerMonth)
  return [
    '# What ten million nodes need',
    `${amount(network.nodes)} nodes in ${amount(network.streams)} streams, calculated from what was measured. No network of that size was run: each figure below is measured at one machine, or assumed, and multiplied. This page is made by \`scripts/scale-page.ts\` (\`node --conditions=runnel-src scripts/scale-page.ts\`); change an input in \`scripts/scale/inputs.ts\` and it is another network. A test compares the page, and looks for each measured figure where it is said to be.`,
    '## Measured',
    inputs(costs),
    '## Assumed',
    inputs(assumptions),
    '## Trackers',
    `Each node is connected to the leader of each of its streams: ${amount(trackers.connections)} connections, and ${amount(trackers.joinsPerS)} joins a second as nodes come and go. They take ${amount(trackers.cores)} cores, so **${amount(trackers.trackers)} trackers** of one core with ${amount(trackers.nodesPerTracker)} nodes each (\`maxNodes\` is 20,000 by default: it would have to be raised a little where the figure is above that), ${amount(trackers.memoryGb)} GB of memory in all, and send ${amount(trackers.sentTb)} TB a month, most of it answers to pings: **€${amount(trackers.euroPerMonth)} a month**.`,
    `That is with overlays at rest, ${cost.trackerIdleUsPerS} µs/s, measured with random ones and twice as many pings as now; what joins set off is in the cost of a join. While a tracker improves all its topology-aware overlays at once, as in the first minute after 10,000 nodes came, it takes ${cost.trackerImprovingUsPerS} µs/s: ${amount(improving.trackers)} trackers and €${amount(improving.euroPerMonth)} a month if all did that all the time, which is the most. An overlay is improved for some minutes after it began and for less after a join, so the truth is between, nearer to the first the longer nodes stay.`,
    `Nearly all of it is connections that do nothing. A node that is in two streams led by the same tracker has one connection; placement by stream spreads them, so this is the most. Trackers have links with each other: ${amount((trackers.trackers * (trackers.trackers - 1)) / 2)} where all do, as today. That was not measured at this size, and would be the first thing to look at.`,
    '## Storage and money',
    table(
      ['messages a second in each stream', ...rates.map(String)],
      [
        ['in all streams, a second', ...rates.map((rate) => amount(rate * network.streams))],
        ['writes a second at storage nodes', ...stores.map(({ writesPerS }) => amount(writesPerS))],
        ['disk, TB', ...stores.map(({ diskTb }) => amount(diskTb))],
        ['machines for storage', ...stores.map(({ machines }) => amount(machines))],
        ['they send on, TB a month', ...stores.map(({ sentTb }) => amount(sentTb))],
        ['storage, € a month', ...stores.map(({ euroPerMonth }) => amount(euroPerMonth))],
        ['trackers, € a month', ...stores.map(() => amount(trackers.euroPerMonth))],
        ['**both, € a month**', ...totals.map((total) => `**${amount(total)}**`)],
        ['both, cents for a node and month', ...totals.map((total) => amount((100 * total) / network.nodes))],
      ],
    ),
    'Messages of 200 bytes, each signed alone. Those of a turn that are signed together take half the disk.',
    '## A node',
    table(
      ['messages a second in each stream', ...rates.map(String)],
      [
        ['deliveries a second', ...nodes.map(({ deliveriesPerS }) => amount(deliveriesPerS))],
        ['% of a core', ...nodes.map(({ corePercent }) => amount(corePercent))],
        ['sent while nothing is published, kbit/s', ...nodes.map(({ idleKbitPerS }) => amount(idleKbitPerS))],
        ['sent in all, kbit/s', ...nodes.map(({ sentKbitPerS }) => amount(sentKbitPerS))],
        ['sent in all, GB a month', ...nodes.map(({ sentGbPerMonth }) => amount(sentGbPerMonth))],
      ],
    ),
    `A node in two streams of twenty has ${network.links} links, measured were four. Of the processor's time the part of bare links grows with them, the rest, whose wake-ups they share ([decision 072](decisions/072-idle-nodes.md)), does not; if it did, a node would take ${amount(2 * cost.idlePercent)} % while nothing is published. Five nodes shared a process there, and so the timer of the library; nodes in processes of their own were not measured. What is sent then, by a node and by its trackers to it, doubles: ${network.links} links and ${network.trackersOfNode} trackers for four and one. It was counted (EVALUATION, where what 072's intervals come to is beside it): most is the library's own, and the rest pings.`,
    'What users bring themselves, and what a broker in the middle would have to pay for: it would send as many messages as all nodes together receive. Floods are full here; thin ones, which publishers of many messages have, send less ([decision 057](decisions/057-thin-floods.md)).',
    '## What size does to an overlay',
    'The mean stream here has twenty nodes. What one of a hundred thousand and more is like, and costs its tracker, is in [EVALUATION](evaluation/overlays.md#one-overlay-against-its-size).',
  ]
    .join('\n\n')
    .concat('\n')
}

function inputs(all: Readonly<Record<string, Input>>): string {
  const rows = Object.values(all).map(({ value, unit, meaning, measured }) => {
    const cells = [meaning, `${amount(value)} ${unit}`.trim()]
    return measured === undefined ? cells : [...cells, `${measured.in}: \`${measured.command}\``]
  })
  const isMeasured = rows.some(({ length }) => length === 3)
  return table(isMeasured ? ['what', 'value', 'measured'] : ['what', 'value'], rows)
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((_, column) =>
    Math.max(3, ...[head, ...rows].map((row) => row[column]?.length ?? 0)),
  )
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('\n')
}

/** For people: three digits, or all of a count below a hundred thousand. */
function amount(value: number): string {
  const digits =
    value >= 100 && value < 100_000 ? { maximumFractionDigits: 0 } : { maximumSignificantDigits: 3 }
  return value.toLocaleString('en', digits)
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href)
  writeFileSync(fileURLToPath(new URL('../docs/SCALE.md', import.meta.url)), scalePage())
