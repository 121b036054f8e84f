import { describe, expect, it } from 'vitest'
import {
  createReaders,
  measurementKinds,
  parseNetworkCounters,
  type CpuReading,
  type LoadReading,
  type MemoryReading,
} from './readings.ts'

const procNetDev = `Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
    lo: 1296 16 0 0 0 0 0 0 1296 16 0 0 0 0 0 0
  eth0:987654321 1234 1 2 0 0 0 5 123456 789 0 0 0 0 0 0
`

describe('readings', () => {
  it('take the counters of each interface from /proc/net/dev', () => {
    expect(parseNetworkCounters(procNetDev)).toEqual({
      lo: { receivedBytes: 1296, receivedPackets: 16, sentBytes: 1296, sentPackets: 16 },
      eth0: { receivedBytes: 987654321, receivedPackets: 1234, sentBytes: 123456, sentPackets: 789 },
    })
  })

  it('of this machine are possible values', async () => {
    const readers = createReaders()
    const [cpu, memory, network, load] = await Promise.all(measurementKinds.map((kind) => readers[kind]()))
    const { busy, perProcessor } = cpu as CpuReading
    expect(perProcessor.length).toBeGreaterThan(0)
    for (const share of [busy, ...perProcessor]) expect(share).toBeGreaterThanOrEqual(0)
    for (const share of [busy, ...perProcessor]) expect(share).toBeLessThanOrEqual(1)
    const { totalBytes, freeBytes, processBytes } = memory as MemoryReading
    expect(freeBytes).toBeLessThan(totalBytes)
    expect(processBytes).toBeLessThan(totalBytes)
    if (process.platform === 'linux') expect(network).toHaveProperty('lo.sentBytes')
    expect((load as LoadReading).averages).toHaveLength(3)
  })
})
