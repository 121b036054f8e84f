import { barFigure } from '../figures/bar-figure.ts'
import { createLatencyModel, type LatencyModel } from '../latency/latency-model.ts'
import { mean, round, standardError } from '../measures/statistics.ts'
import { textTable } from '../report/text-table.ts'
import { conducts, type Conduct } from '../scenarios/fairness/conduct.ts'
import { runFairness, type Hearing } from '../scenarios/fairness/fairness-run.ts'
import type { Experiment } from './experiment.ts'

const defaultNodes = 128
const defaultRepeats = 4
/** One node in so many is put to the test: they are of all regions, and of all ages. */
const subjectEvery = 8
/** Groups by age of membership. */
const ages = ['first quarter', 'second', 'third', 'last quarter']

/** Who hears first: by region, by age of membership, and when a node lies or joins again and again. */
export const fairness: Experiment = {
  name: 'fairness',
  describe:
    'who hears first? By region, by age of membership, and nodes that lie to the tracker or leave and rejoin, against honest ones in the same places',
  usualNodes: String(defaultNodes),
  async run(options, onProgress) {
    const { nodes = defaultNodes, degree = 4, overlay, latency, seed, repeats = defaultRepeats } = options
    const subjects = subjectsOf(nodes)
    const runs: Run[] = []
    for (let repeat = 0; repeat < repeats; repeat++) {
      const ofRun = `${seed}/${repeat}`
      const model = createLatencyModel({ latency, nodes, seed: ofRun })
      for (const conduct of conducts) {
        const say = (text: string): void => onProgress(`${repeat + 1} of ${repeats}, ${conduct}: ${text}`)
        const run = { seed: ofRun, degree, overlay, model, conduct, subjects }
        runs.push({ repeat, conduct, model, hearings: await runFairness(run, say) })
      }
    }
    const honest = runs.filter(({ conduct }) => conduct === 'honest')
    const rows = {
      regions: groupsOf(honest, ({ model }, index) => model.regionOf?.(index) ?? 'anywhere'),
      ages: groupsOf(honest, (_, index) => ages[Math.floor((index * ages.length) / nodes)] ?? ''),
      conducts: conducts.map((conduct) => conductOf(conduct, runs, subjects)),
    }
    const given = { seed, nodes, degree, overlay, latency, repeats, subjects: subjects.size }
    const figure = barFigure({
      name: 'fairness',
      title: `Mean place at which a node hears, ${nodes} nodes, ${overlay}`,
      xTitle: 'conduct',
      yTitle: '0 first, 1 last',
      bars: rows.conducts.flatMap(({ conduct: x, rank, othersRank }) => [
        { x, y: rank, series: 'who behaves so' },
        { x, y: othersRank, series: 'others' },
      ]),
    })
    return { report: { experiment: 'fairness', ...given, ...rows }, text: describe(rows), figures: [figure] }
  },
}

interface Run {
  readonly repeat: number
  readonly conduct: Conduct
  readonly model: LatencyModel
  readonly hearings: readonly Hearing[]
}

/** Every eighth node, each from another place in its eight: where 16 regions take turns, all of them are among 16. */
export function subjectsOf(nodes: number): ReadonlySet<number> {
  const subjects = Array.from(
    { length: Math.ceil(nodes / subjectEvery) },
    (_, k) => subjectEvery * k + (Math.floor(k / 2) % subjectEvery),
  )
  return new Set(subjects.filter((index) => index < nodes))
}

/** Mean figures of groups of nodes, those that hear first coming first. */
function groupsOf(runs: readonly Run[], nameOf: (run: Run, index: number) => string) {
  const all = runs.flatMap((run) =>
    run.hearings.map((hearing, index) => ({ ...hearing, group: nameOf(run, index) })),
  )
  const groups = Map.groupBy(all, ({ group }) => group)
  return [...groups].map(([group, hearings]) => {
    const average = (pick: (hearing: Hearing) => number): number => mean(hearings.map(pick)) ?? 0
    const [meanMs, directMs] = [average((one) => one.meanMs), average((one) => one.directMs)]
    return {
      group,
      nodes: hearings.length,
      rank: round(average((one) => one.rank)),
      meanMs: round(meanMs),
      directMs: round(directMs),
      ratio: round(meanMs / directMs),
    }
  })
}

/** Those that behave so, beside honest nodes in the same places in the run with the same seed. */
function conductOf(conduct: Conduct, runs: readonly Run[], subjects: ReadonlySet<number>) {
  const ofConduct = runs.filter((run) => run.conduct === conduct)
  const meanOf = (run: Run | undefined, pick: (hearing: Hearing) => number, among = true): number =>
    mean((run?.hearings ?? []).filter((_, index) => subjects.has(index) === among).map(pick)) ?? 0
  const average = (pick: (hearing: Hearing) => number, among: boolean): number =>
    round(mean(ofConduct.map((run) => meanOf(run, pick, among))) ?? 0)
  const gains = ofConduct.map((run) => {
    const same = runs.find(({ repeat, conduct: other }) => repeat === run.repeat && other === 'honest')
    return meanOf(same, ({ rank }) => rank) - meanOf(run, ({ rank }) => rank)
  })
  return {
    conduct,
    rank: average(({ rank }) => rank, true),
    othersRank: average(({ rank }) => rank, false),
    /** So many places, as a share of all, sooner than an honest node; and its standard error, null for one run. */
    gain: round(mean(gains) ?? 0),
    gainError: standardError(gains),
    meanMs: average(({ meanMs }) => meanMs, true),
    othersMeanMs: average(({ meanMs }) => meanMs, false),
    missed: ofConduct.flatMap(({ hearings }) => hearings).reduce((sum, { missed }) => sum + missed, 0),
  }
}

interface Rows {
  readonly regions: ReturnType<typeof groupsOf>
  readonly ages: ReturnType<typeof groupsOf>
  readonly conducts: readonly ReturnType<typeof conductOf>[]
}

function describe({ regions, ages: byAge, conducts: byConduct }: Rows): string {
  const groups = (title: string, rows: Rows['regions']): string =>
    textTable(
      [title, 'rank', 'mean ms', 'direct ms', 'ratio'],
      rows.map((row) => [row.group, row.rank, row.meanMs, row.directMs, row.ratio]),
    )
  const conductTable = textTable(
    ['conduct', 'rank', 'others', 'gain', '±', 'mean ms', 'others ms', 'missed'],
    byConduct.map((row) => [
      ...[row.conduct, row.rank, row.othersRank, row.gain, row.gainError ?? undefined],
      ...[row.meanMs, row.othersMeanMs, row.missed],
    ]),
  )
  return [groups('region', regions), groups('joined', byAge), conductTable].join('\n\n')
}
