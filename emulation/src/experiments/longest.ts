import { maxMinutes } from '@runnel/sim/time-bound'
import type { PlaceKind } from '../places/place.ts'
import { formedWithinMs } from '../session/session.ts'
import type { Experiment, ExperimentOptions } from './experiment.ts'

/** For experiments that do not say how long they take. */
const usualMinutes = 720
/** A place with its tracker comes up and goes down, and each process starts and ends: four times what two idle cores take. */
const placeMs = 30_000
const startMs = 2_000
/** An overlay forms within that: about four times what it takes on two idle cores; in the time of the processes. */
const formMs = 10_000
const formMsPerNode = 1_000
/** Looks at all nodes in a run, what they are asked for, and the same overlay in the simulator; in real time. */
const lookMs = 10_000
const lookMsPerNode = 500

/** What an experiment does with one fleet. */
export interface FleetWork {
  readonly nodes: number
  readonly dilation: number
  /** Overlays that form. */
  readonly overlays: number
  readonly runs: number
  /** Messages are published and waited for so long, in all; in the time of the processes. */
  readonly messagesMs: number
}

/** How long a fleet is there at most, in real milliseconds. */
export function fleetMs({ nodes, dilation, overlays, runs, messagesMs }: FleetWork): number {
  const formingMs = overlays * Math.min(formedWithinMs, formMs + formMsPerNode * nodes)
  const lookingMs = runs * (lookMs + lookMsPerNode * nodes)
  return placeMs + startMs * nodes + lookingMs + dilation * (formingMs + messagesMs)
}

/** By when an experiment is done with all numbers of nodes, in whole minutes. A slower machine needs `--minutes`. */
export function longestMinutes(
  { longestMs }: Experiment,
  options: Omit<ExperimentOptions, 'nodes'>,
  { sizes, place }: { readonly sizes: readonly (number | undefined)[]; readonly place: PlaceKind },
): number {
  if (longestMs === undefined) return usualMinutes
  const allMs = sizes.reduce<number>((sum, nodes) => sum + longestMs({ ...options, nodes }, place), 0)
  // One overlay may form too late, so that the experiment says which nodes are missing.
  const lateMs = (options.dilation ?? 1) * formedWithinMs
  return Math.min(maxMinutes, Math.ceil((allMs + lateMs) / 60_000))
}
