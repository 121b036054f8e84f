import { nodeError } from '../../errors.ts'
import { short } from './figures.ts'

const ofDelays = ['p50', 'p90', 'p95', 'p99', 'p99.9', 'max', 'mean'] as const
const ofTimes = [...ofDelays, 'join', 'lateness'] as const
const ofShares = ['loss', 'cpu'] as const
/** What aims are about. Times are in milliseconds, `loss` and `cpu` in percent, the others are numbers. */
const aimMetrics = [...ofTimes, ...ofShares, 'duplicates', 'disordered', 'rate'] as const
type AimMetric = (typeof aimMetrics)[number]

const delays: readonly AimMetric[] = ofDelays
const times: readonly AimMetric[] = ofTimes
const shares: readonly AimMetric[] = ofShares

/** One condition that a run should fulfil. */
export interface Aim {
  readonly text: string
  readonly metric: AimMetric
  readonly comparison: '<' | '<=' | '=' | '>' | '>='
  /** In the metric's own unit. */
  readonly value: number
}

/** What was measured; undefined where a run does not measure it. */
export type Measured = Readonly<Partial<Record<AimMetric, number>>>

/** An aim, what was measured of it, and whether it was met. What was not measured is not met. */
export interface AimResult {
  readonly aim: string
  /** Of what was measured; empty for a number. */
  readonly unit: 'ms' | '%' | '/s' | ''
  readonly measured: number | undefined
  readonly met: boolean
}

const pattern = /^([a-z0-9.]+)\s*(<=|>=|<|>|=)\s*(\d+(?:\.\d+)?)\s*(us|ms|s|%)?$/

/** Reads `p99<50ms,loss=0`. Throws USAGE, naming the part that cannot be read. */
export function parseAims(text: string): readonly Aim[] {
  const parts = text.split(',').map((part) => part.trim())
  return parts.map((part) => parseAim(part))
}

function parseAim(text: string): Aim {
  const [, name = '', comparison = '', digits = '', unit] = pattern.exec(text) ?? []
  const metric = aimMetrics.find((known) => known === name)
  if (metric === undefined)
    throw nodeError(
      'USAGE',
      `--aim: "${text}" is no aim; for example p99<50ms,loss=0, of ${aimMetrics.join(', ')}`,
    )
  const value = Number(digits) * factorOf(metric, unit, text)
  if (comparison === '<' && value === 0)
    throw nodeError('USAGE', `--aim: "${text}" cannot be met, as nothing measured is below 0`)
  return { text, metric, comparison: comparison as Aim['comparison'], value }
}

/** From the unit that was written to that of the metric. A time without one is in milliseconds, a share in percent. */
function factorOf(metric: AimMetric, unit: string | undefined, text: string): number {
  if (unit === undefined) return 1
  const factors = { us: 0.001, ms: 1, s: 1000, '%': 1 } as const
  const fits = unit === '%' ? shares.includes(metric) : times.includes(metric)
  if (!fits) throw nodeError('USAGE', `--aim: "${text}" has a unit that ${metric} is not measured in`)
  return factors[unit as keyof typeof factors]
}

/** The strictest aim about delays, in milliseconds: more than that of a generator's own would decide it. Infinite without one. */
export function delayAimMs(aims: readonly Aim[]): number {
  const upper = aims.filter(
    ({ metric, comparison }) => delays.includes(metric) && (comparison === '<' || comparison === '<='),
  )
  return Math.min(...upper.map(({ value }) => value))
}

export function judgeAims(aims: readonly Aim[], measured: Measured): readonly AimResult[] {
  return aims.map((aim) => {
    const value = measured[aim.metric]
    return {
      aim: aim.text,
      unit: unitOf(aim.metric),
      measured: value,
      met: value !== undefined && isMet(aim, value),
    }
  })
}

function unitOf(metric: AimMetric): AimResult['unit'] {
  if (times.includes(metric)) return 'ms'
  if (shares.includes(metric)) return '%'
  return metric === 'rate' ? '/s' : ''
}

/** For people: an aim, and what was measured of it. */
export function measuredText({ aim, measured, unit }: AimResult): string {
  return `${aim} (${measured === undefined ? 'not measured' : `${short(measured)} ${unit}`.trim()})`
}

function isMet({ comparison, value }: Aim, measured: number): boolean {
  switch (comparison) {
    case '<':
      return measured < value
    case '<=':
      return measured <= value
    case '=':
      return measured === value
    case '>':
      return measured > value
    case '>=':
      return measured >= value
  }
}
