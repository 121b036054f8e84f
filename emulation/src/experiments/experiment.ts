import type { RecordRow } from '@runnel/sim/records'
import type { Fleet, FloodKind, LinkKind, OverlayKind, Place, PlaceKind } from '../places/place.ts'
import type { Session } from '../session/session.ts'

/** What can be said of every experiment; each has its own defaults. */
export interface ExperimentOptions {
  readonly nodes: number | undefined
  readonly degree: number | undefined
  readonly overlay: OverlayKind
  /** undefined: what the experiment compares. */
  readonly links: LinkKind | undefined
  readonly repeats: number | undefined
  /** Of each publisher. */
  readonly messages: number | undefined
  /** Messages of each publisher beforehand, which are not measured: processes that have just started take their time. */
  readonly warmUp: number | undefined
  /** Messages a second of all publishers together, where they take turns. */
  readonly rate: number | undefined
  /**
   * So many times slower does time go for links and for the clocks and timers of processes, and what is measured is given in their time: what
   * processes take counts as much less. For machines too small to play as many as they do (time dilation: Gupta et al., NSDI 2006). SCTP and TCP
   * keep real time: the shortest pauses before they send again count as much less, too.
   */
  readonly dilation: number | undefined
  /** Kinds of floods, which take turns; undefined: as they are by default. */
  readonly floods?: readonly FloodKind[] | undefined
  /** Percentages of packets that each host's link loses each way, one after the other; undefined: those of the experiment. */
  readonly losses?: readonly number[] | undefined
  /** One overlay for all repeats and losses, in place of one for each. */
  readonly fixed?: boolean | undefined
}

interface ExperimentModules {
  /** Brings a fleet up on the place chosen, does some work with it, and takes it down. */
  onFleet<Result>(fleet: Fleet, work: (running: Running) => Promise<Result>): Promise<Result>
  /** A few words for people, now and then. */
  readonly onProgress: (text: string) => void
}

/** A fleet that is up. */
export interface Running {
  readonly place: Place
  readonly session: Session
  /** Names what hosts and latencies are like, for rows. */
  readonly latency: string
  /** One-way delay of the underlay between two nodes, given by number; undefined when unknown. */
  oneWayMs(from: number, to: number): number | undefined
  /** Kills a node; resolves when it runs again, with a new id. */
  restart(node: number): Promise<void>
}

export interface Experiment {
  readonly name: string
  readonly describe: string
  /** Which of the options that not all experiments have are its. */
  readonly takes: readonly ('repeats' | 'warmUp' | 'rate' | 'dilation' | 'floods' | 'losses' | 'fixed')[]
  /** How long it takes at most, in real milliseconds, where it is known. */
  readonly longestMs?: (options: ExperimentOptions, place: PlaceKind) => number
  run(options: ExperimentOptions, modules: ExperimentModules): Promise<readonly RecordRow[]>
  /** What people are shown of the rows. */
  readonly columns: readonly string[]
}
