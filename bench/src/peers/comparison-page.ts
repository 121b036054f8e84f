import type { ArmFigures } from './figures.ts'
import type { PeersReport } from './peers-bench.ts'

/** What stands after this line is written by hand, and kept. */
const byHand =
  '<!-- By hand from here on; what is above is written by `npm run -s bench -- peers --write`. -->'

/** The page with the figures of a report, and what is written by hand as it stands in the page of before. */
export function comparisonPage(report: PeersReport, before: string): string {
  const kept = before.split(byHand)[1]
  if (kept === undefined) throw new Error('docs/COMPARISON.md has no line that says what is written by hand')
  return `${figuresPart(report)}\n\n${byHand}${kept}`
}

function figuresPart({
  date,
  machine,
  settings,
  arms,
  absent,
  failed,
  brokeAtStop,
  notRun,
}: PeersReport): string {
  const { nodes, contentBytes, perS, seconds, joins, rounds } = settings
  const lacking = [...Object.entries(absent), ...Object.entries(failed)].map(
    ([name, reason]) => `- \`${name}\`: ${reason}`,
  )
  for (const [name, reason] of Object.entries(brokeAtStop))
    lacking.push(`- \`${name}\` was measured, and broke when it was stopped: ${reason}`)
  const late = notRun.length === 0 ? [] : [`- time was up before ${notRun.join(', ')}`]
  return [
    '# Beside its peers',
    `    npm run -s bench -- peers --nodes ${nodes} --rounds ${rounds} --seconds ${seconds} --rate ${perS} --joins ${joins} --write`,
    `Every figure of the tables was measured in one run of ${date}: ${machine.cores} cores, Node ${machine.node}, ${machine.platform}. ${nodes} nodes on loopback, one publishes messages of ${contentBytes} bytes, the ${nodes - 1} others subscribe. The systems were run by turns, up to ${rounds} rounds (the last table says how many there was time for), each time with a new process for all nodes; servers have one more. Medians of the rounds. CPU is that of all processes of a system, for each message delivered to a subscriber; in brackets its ratio to Runnel over the same kind of link (WebRTC beside WebRTC, all others beside WebSocket).`,
    `![CPU for each message delivered, of every system](images/comparison.svg)`,
    `## As fast as it goes, for ${seconds} s`,
    table(
      [
        'system',
        'links',
        'deliveries/s',
        'µs CPU a delivery',
        'lowest to highest',
        'µs of it in the server',
        'copies too many, a message',
        'lost',
      ],
      arms.map((arm) => saturatedRow(arm, arms)),
    ),
    `## ${perS} messages a second`,
    table(
      [
        'system',
        'links',
        'p50 ms',
        'p99 ms',
        'µs CPU a delivery',
        'copies too many, a message',
        'lost',
        'first message, ms',
      ],
      arms.map((arm) => pacedRow(arm, arms)),
    ),
    'The first message: from the start of one more node until its first message, while messages come every 5 ms.',
    '## What each was, and what it checks',
    table(
      ['system', 'version', 'settings', 'checked', 'encrypted on links', 'by way of', 'rounds'],
      arms.map((arm) => [
        titleOf(arm),
        arm.version === 'this' ? 'this repository' : arm.version,
        arm.settings,
        arm.verifies,
        arm.encrypted,
        arm.isCentral ? 'a server' : 'other nodes',
        `${arm.rounds}`,
      ]),
    ),
    ...(lacking.length + late.length > 0
      ? [`Not measured, or not in all rounds:\n\n${[...lacking, ...late].join('\n')}`]
      : []),
  ].join('\n\n')
}

const titleOf = ({ system, name }: ArmFigures): string => `${system} (\`${name}\`)`

function saturatedRow(arm: ArmFigures, arms: readonly ArmFigures[]): string[] {
  const { saturated } = arm
  const ours = oursFor(arm, arms)?.saturated
  return [
    titleOf(arm),
    arm.links,
    beside(saturated.deliveriesPerS, ours?.deliveriesPerS),
    beside(saturated.cpuUsPerDelivery, ours?.cpuUsPerDelivery),
    saturated.cpuUsRange.map(shown).join(' to '),
    shown(saturated.serverCpuUsPerDelivery),
    shown(saturated.duplicatesPerMessage),
    shown(saturated.lost),
  ]
}

function pacedRow(arm: ArmFigures, arms: readonly ArmFigures[]): string[] {
  const { paced } = arm
  const ours = oursFor(arm, arms)
  return [
    titleOf(arm),
    arm.links,
    beside(paced.p50Ms, ours?.paced.p50Ms),
    beside(paced.p99Ms, ours?.paced.p99Ms),
    beside(paced.cpuUsPerDelivery, ours?.paced.cpuUsPerDelivery),
    shown(paced.duplicatesPerMessage),
    shown(paced.lost),
    beside(arm.firstMessageMs, ours?.firstMessageMs),
  ]
}

/** Runnel with its defaults, over the same kind of link. */
function oursFor({ links }: ArmFigures, arms: readonly ArmFigures[]): ArmFigures | undefined {
  return arms.find(({ name }) => name === (links === 'WebRTC' ? 'runnel-webrtc' : 'runnel-websocket'))
}

const shown = (value: number | undefined): string => value?.toLocaleString('en') ?? ''

function beside(value: number | undefined, ours: number | undefined): string {
  if (value === undefined || ours === undefined || ours === 0) return shown(value)
  return `${shown(value)} (${Number((value / ours).toPrecision(2)).toLocaleString('en')})`
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}
