import { short } from './figures.ts'

/** Above this share of one core a generator's own work is part of the delays it measures. */
const saturatedCpuShare = 0.7
/** A generator that sends later than this, for one message in a hundred, does not keep its schedule. */
const saturatedLatenessMs = 1
/** What is later than this is said also of a run that sent too little to call a generator saturated. */
const notableLatenessMs = 10

/** What a generator knows of itself after a run. */
export interface GeneratorFigures {
  readonly name: string
  /** Of one core, while it sent; where it did not, while its users joined or read. */
  readonly cpuShare: number
  readonly rssBytes: number
  /** Intended against real time of sending, the 99th percentile; undefined where it sent too little to tell. */
  readonly latenessP99Ms: number | undefined
  /** How far its clock may be from the driver's after it was corrected; 0 in the driver's own process. */
  readonly clockErrorMs: number
}

/** Why a run's figures are not the network's. */
export interface Doubt {
  readonly kind: 'generator-saturated' | 'clocks-apart' | 'not-settled' | 'ended-early' | 'process-died'
  readonly text: string
}

/** What a run measured, against which generators are judged. */
export interface MeasuredDelays {
  /** Undefined where nothing came. */
  readonly p50Ms: number | undefined
  /** Of all generators' sending, the 99th percentile of however few; undefined where nothing was sent. */
  readonly latenessMs: number | undefined
  /** The strictest aim about delays; infinite without one. */
  readonly aimMs: number
}

/** What in a run keeps its figures from being those of the network. */
export function doubtsOf(
  generators: readonly GeneratorFigures[],
  measured: MeasuredDelays,
): readonly Doubt[] {
  const isLate = generators.some(({ latenessP99Ms = 0 }) => latenessP99Ms > saturatedLatenessMs)
  return [
    ...generators.flatMap((generator) => saturation(generator)),
    ...(isLate ? [] : latenessDoubts(measured)),
    ...clockDoubts(generators, measured.p50Ms),
  ]
}

/** Too few messages for a percentile of each generator may be late all the same. */
function latenessDoubts({ latenessMs = 0, aimMs }: MeasuredDelays): Doubt[] {
  if (latenessMs <= Math.min(notableLatenessMs, aimMs)) return []
  const text = `messages were sent up to ${short(latenessMs)} ms late (p99), and the delays contain that: the machine was busy`
  return [{ kind: 'generator-saturated', text }]
}

/** A delay is between two generators, and the errors of both their clocks may add up. */
function clockDoubts(generators: readonly GeneratorFigures[], p50Ms = Infinity): Doubt[] {
  const worst = generators.toSorted((a, b) => b.clockErrorMs - a.clockErrorMs).slice(0, 2)
  const errorMs = worst.reduce((sum, { clockErrorMs }) => sum + clockErrorMs, 0)
  if (errorMs <= p50Ms) return []
  const names = worst.map(({ name }) => name).join(', ')
  const text = `clocks may be ${short(errorMs)} ms off, more than the median delay: ${names}`
  return [{ kind: 'clocks-apart', text }]
}

function saturation({ name, cpuShare, latenessP99Ms = 0 }: GeneratorFigures): Doubt[] {
  const reasons = [
    ...(cpuShare > saturatedCpuShare ? [`it used ${Math.round(cpuShare * 100)} % of a core`] : []),
    ...(latenessP99Ms > saturatedLatenessMs ? [`it sent ${short(latenessP99Ms)} ms late (p99)`] : []),
  ]
  if (reasons.length === 0) return []
  return [{ kind: 'generator-saturated', text: `generator saturated: ${name}: ${reasons.join(', ')}` }]
}
