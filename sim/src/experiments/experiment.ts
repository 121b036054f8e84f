import { overlayStrategies, type OverlayStrategyName } from '@runnel/protocol'
import type { Figure } from '../figures/write-figures.ts'

export const overlays = overlayStrategies
export type Overlay = OverlayStrategyName

/** What can be said of every experiment; each has its own defaults. */
export interface ExperimentOptions {
  /** undefined: all sizes of the published table. */
  readonly nodes: number | undefined
  readonly degree: number | undefined
  readonly overlay: Overlay
  /** The name of a latency model, or a file. */
  readonly latency: string
  readonly seed: string
  readonly repeats: number | undefined
  /** Of an experiment that takes them: whether floods are thin, and messages a second of each publisher. */
  readonly thinFloods?: boolean | undefined
  readonly rate?: number | undefined
  /** Of an experiment that takes it: percent of the nodes that others come for. */
  readonly replaced?: number | undefined
}

/** What came of an experiment. */
interface ExperimentResult {
  /** For machines. */
  readonly report: object
  /** The same for people, published figures beside the measured. */
  readonly text: string
  readonly figures: readonly Figure[]
}

/** Minutes. */
export const aDay = 1_440

export interface Experiment {
  readonly name: string
  readonly describe: string
  /** Whether it takes `thinFloods` and `rate`. */
  readonly takesFloods?: boolean
  /** Whether it takes `replaced`. */
  readonly takesReplaced?: boolean
  /** Options that would change nothing, so that it does not take them. */
  readonly ignores?: readonly ('overlay' | 'latency' | 'repeats')[]
  /** What `nodes` is where none is given, for people. */
  readonly usualNodes: string
  /** Of real time, that it may take unless told otherwise, with so many nodes. Default: a day. */
  readonly minutes?: (nodes: number | undefined) => number
  /** `onProgress` is called now and then with a few words for people. */
  run(options: ExperimentOptions, onProgress: (text: string) => void): Promise<ExperimentResult>
}
