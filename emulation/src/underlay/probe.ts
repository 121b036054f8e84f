import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { compiled } from './compiled.ts'
import type { EmulatedHost } from './link-emulator.ts'

/** From one host to another, and how long it ought to take. */
export interface ProbedWay {
  readonly from: Pick<EmulatedHost, 'namespace'>
  readonly to: Pick<EmulatedHost, 'namespace' | 'address'>
  readonly delayMs: number
}

export interface ProbeOptions {
  /** On each way. */
  readonly packets: number
  /** From one packet to the next, over all ways; 0: as fast as can be. */
  readonly intervalUs: number
  /** Of UDP payload: 16 to 1,472. */
  readonly bytes: number
}

/** A packet that arrived. */
export interface Arrival {
  /** Index of its way. */
  readonly way: number
  readonly sequence: number
  readonly delayMs: number
  /** The machine left even real-time processes waiting when this was sent or due: its delay says nothing of the emulator. */
  readonly stalled: boolean
}

export interface Probed {
  /** In the order of arrival. */
  readonly arrivals: readonly Arrival[]
  /** How long sending took. */
  readonly sentMs: number
  /** How late the machine wakes even a real-time process of the highest priority: 99th percentile. */
  readonly wakeP99Ms: number
}

const maxOutputBytes = 1024 * 1024 * 1024

/** Sends UDP packets between hosts and tells when they arrive, by the kernel's clock (`emulation/link-emulator/probe/`). */
export async function probe(
  ways: readonly ProbedWay[],
  { packets, intervalUs, bytes }: ProbeOptions,
): Promise<Probed> {
  const wayWords = ways.flatMap(({ from, to, delayMs }) => [
    from.namespace,
    to.namespace,
    to.address,
    String(Math.round(delayMs * 1000)),
  ])
  const words = [packets, intervalUs, bytes].map(String)
  const { stdout } = await promisify(execFile)(await compiled('probe'), [...words, ...wayWords], {
    maxBuffer: maxOutputBytes,
  })
  const lines = stdout.trimEnd().split('\n')
  const [, sentS = NaN, wakeP99Ns = NaN] = (lines.pop() ?? '').split(' ').map(Number)
  return { arrivals: lines.map(parseArrival), sentMs: sentS * 1000, wakeP99Ms: wakeP99Ns / 1e6 }
}

function parseArrival(line: string): Arrival {
  const [way = NaN, sequence = NaN, delayNs = NaN, stalled = NaN] = line.split(' ').map(Number)
  return { way, sequence, delayMs: delayNs / 1e6, stalled: stalled === 1 }
}
