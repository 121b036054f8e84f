import { seededRandom } from '@runnel/protocol'
import { gossipOverlay, largestPiece } from '../graphs/gossip-overlay.ts'
import { createLatencyModel } from '../latency/latency-model.ts'
import { round } from '../measures/statistics.ts'
import { textTable } from '../report/text-table.ts'
import { runAttack, type AttackReport } from '../scenarios/attack/attack-run.ts'
import { attacks, type Attack } from '../scenarios/attack/attacker.ts'
import { barFigure } from '../figures/bar-figure.ts'
import type { Experiment } from './experiment.ts'

const defaultNodes = 1_000
/** Of 1,000 nodes: as many as seed a hub attack that breaks an ordinary random overlay (thesis, section 2.3.2). */
const attackerShare = 20 / 1_000
/** The ordinary random overlay: as in the literature. */
const gossip = { viewSize: 20, rounds: 50 }

/** Where a flood alone might do, it is tried as well. */
const cases = attacks.flatMap((kind) =>
  (kind === 'hub' || kind === 'drop' ? [true, false] : [true]).map((fillGaps) => ({ kind, fillGaps })),
)

interface AttackRow extends AttackReport {
  readonly attack: Attack
  readonly fillGaps: boolean
}

/** Attackers among honest nodes: which messages do they cost? */
export const attack: Experiment = {
  name: 'attack',
  describe:
    'hubs, an eclipse, lies about round-trip times, dropped messages: which nodes still get everything?',
  takesFloods: true,
  ignores: ['repeats'],
  usualNodes: `${defaultNodes} honest ones`,
  async run(options, onProgress) {
    const { nodes = defaultNodes, degree = 4, overlay, latency, seed, thinFloods, rate } = options
    const attackers = Math.max(1, Math.round(nodes * attackerShare))
    const model = createLatencyModel({ latency, nodes: nodes + attackers, seed })
    const rows: AttackRow[] = []
    const common = { seed, nodes, attackers, degree, overlay, model, thinFloods, rate }
    for (const [at, { kind, fillGaps }] of cases.entries()) {
      const say = (text: string): void => onProgress(`${kind} (${at + 1} of ${cases.length}): ${text}`)
      const report = await runAttack({ ...common, attack: kind, fillGaps }, say)
      rows.push({ attack: kind, fillGaps, ...rounded(report) })
    }
    const random = seededRandom(`gossip of ${seed}`)
    const before = gossipOverlay({ ...gossip, nodes, attackers: 0 }, random.fork('before'))
    const after = gossipOverlay({ ...gossip, nodes, attackers }, random.fork('after'))
    const baseline = {
      ...gossip,
      reachedWithoutAttack: round(largestPiece(before)),
      reachedAfterHubsLeft: largestPiece(after),
    }
    const given = { seed, nodes, attackers, degree, overlay, latency, thinFloods, rate }
    const report = { experiment: 'attack', ...given, baseline, rows }
    const figure = barFigure({
      name: 'attack-complete',
      title: `Honest nodes that got every message: ${attackers} attackers among ${nodes} nodes, ${overlay}`,
      xTitle: 'attack',
      yTitle: 'share of honest nodes',
      bars: [
        ...rows.map(({ attack: x, fillGaps, completeShare: y }) => ({
          x,
          y,
          series: fillGaps ? 'gaps filled' : 'flooding only',
        })),
        { x: 'hub', y: baseline.reachedAfterHubsLeft, series: 'nodes choose neighbours: largest piece' },
      ],
    })
    return { report, text: describe(rows, baseline), figures: [figure] }
  },
}

function rounded(report: AttackReport): AttackReport {
  return {
    ...report,
    edgesPerAttacker: round(report.edgesPerAttacker),
    neighboursOfAttacker: round(report.neighboursOfAttacker),
    neighboursOfHonest: round(report.neighboursOfHonest),
  }
}

function describe(
  rows: readonly AttackRow[],
  baseline: { readonly reachedWithoutAttack: number; readonly reachedAfterHubsLeft: number },
): string {
  const head = [
    'attack',
    'gaps',
    'complete',
    'share',
    'missed',
    'of each',
    'edges per attacker',
    'copies',
    'p50 ms',
    'p99',
    'max',
    'victim',
  ]
  const cells = rows.map((row) => [
    row.attack,
    row.fillGaps ? 'filled' : 'not filled',
    row.complete,
    row.completeShare,
    row.missed,
    row.published,
    ...[row.edgesPerAttacker, row.copies, row.p50Ms, row.p99Ms, row.maxMs],
    row.attack === 'eclipse'
      ? `${row.victim.mostAttackers} attackers at most, alone with them ${row.victim.eclipsedMs} ms, missed ${row.victim.missed}`
      : undefined,
  ])
  return [
    textTable(head, cells),
    `Where nodes choose their neighbours by gossip, ${percent(baseline.reachedAfterHubsLeft)} of them are in one piece after hubs left; ${percent(baseline.reachedWithoutAttack)} without attack.`,
  ].join('\n')
}

const percent = (share: number): string => `${Math.round(100 * share)} %`
