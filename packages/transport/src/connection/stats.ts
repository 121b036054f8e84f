import type { ConnectionStats } from '../ports.ts'

/** The counters behind ConnectionStats. */
export type MutableStats = { -readonly [K in keyof ConnectionStats]: ConnectionStats[K] }

export function newStats(): MutableStats {
  return {
    packetsIn: 0,
    dataIn: 0,
    packetsOut: 0,
    bytesIn: 0,
    bytesOut: 0,
    framesIn: 0,
    framesOut: 0,
    packetsDropped: 0,
  }
}
