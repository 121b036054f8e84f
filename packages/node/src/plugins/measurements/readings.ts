import { readFile } from 'node:fs/promises'
import { availableParallelism, cpus, freemem, loadavg, totalmem } from 'node:os'

/** What can be measured on a machine, each on a stream of its own. */
export const measurementKinds = ['cpu', 'memory', 'network', 'load'] as const
export type MeasurementKind = (typeof measurementKinds)[number]

/** Share of the time since the last reading that processors were busy, from 0 to 1. */
export interface CpuReading {
  readonly busy: number
  readonly perProcessor: readonly number[]
}

/** Bytes of main memory. */
export interface MemoryReading {
  readonly totalBytes: number
  readonly freeBytes: number
  readonly processBytes: number
}

/** Counters since the start of the machine, by interface. */
export interface NetworkReading {
  readonly [networkInterface: string]: {
    readonly receivedBytes: number
    readonly receivedPackets: number
    readonly sentBytes: number
    readonly sentPackets: number
  }
}

/** Processes that want to run, averaged over 1, 5 and 15 minutes. */
export interface LoadReading {
  readonly averages: readonly number[]
  readonly processors: number
}

/** Reads this machine. Undefined: this system has no such reading. */
export type Reader = () => Promise<CpuReading | MemoryReading | NetworkReading | LoadReading | undefined>

/** A reader for each kind. The processor's remembers its last reading. */
export function createReaders(): Readonly<Record<MeasurementKind, Reader>> {
  return {
    cpu: createCpuReader(),
    memory: async () => ({
      totalBytes: totalmem(),
      freeBytes: freemem(),
      processBytes: process.memoryUsage.rss(),
    }),
    network: readNetwork,
    load: async () => ({ averages: loadavg(), processors: availableParallelism() }),
  }
}

function createCpuReader(): Reader {
  let last = cpuTimes()
  return async () => {
    const now = cpuTimes()
    const perProcessor = now.map((times, index) => busyShare(last[index], times))
    last = now
    const sum = perProcessor.reduce((total, share) => total + share, 0)
    return { busy: perProcessor.length > 0 ? sum / perProcessor.length : 0, perProcessor }
  }
}

interface CpuTimes {
  readonly idleMs: number
  readonly totalMs: number
}

function cpuTimes(): CpuTimes[] {
  return cpus().map(({ times }) => ({
    idleMs: times.idle,
    totalMs: times.user + times.nice + times.sys + times.idle + times.irq,
  }))
}

/** The kernel counts in ticks of 10 ms, so between two close readings a share can be 0. */
function busyShare(before: CpuTimes | undefined, after: CpuTimes): number {
  const totalMs = after.totalMs - (before?.totalMs ?? 0)
  const idleMs = after.idleMs - (before?.idleMs ?? 0)
  return totalMs > 0 ? Math.min(1, Math.max(0, 1 - idleMs / totalMs)) : 0
}

async function readNetwork(): Promise<NetworkReading | undefined> {
  const text = await readFile('/proc/net/dev', 'utf8').catch(() => undefined)
  return text === undefined ? undefined : parseNetworkCounters(text)
}

/** Reads `/proc/net/dev` (proc(5)): a line for each interface, eight counters received, then eight sent. */
export function parseNetworkCounters(text: string): NetworkReading {
  const reading: Record<string, NetworkReading[string]> = {}
  for (const line of text.split('\n')) {
    const [name, counters] = line.split(':')
    const numbers = counters?.trim().split(/\s+/).map(Number)
    if (name === undefined || numbers === undefined || numbers.length < 16) continue
    const [receivedBytes = 0, receivedPackets = 0] = numbers
    const [sentBytes = 0, sentPackets = 0] = numbers.slice(8)
    reading[name.trim()] = { receivedBytes, receivedPackets, sentBytes, sentPackets }
  }
  return reading
}
