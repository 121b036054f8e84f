import { existsSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { everyWay, withEmulator } from './emulator.testkit.ts'
import type { EmulatedHost } from './link-emulator.ts'
import { lacksRoot } from './privileges.testkit.ts'
import { probe, type Arrival } from './probe.ts'
import { quantile } from './statistics.ts'

/** So many standard deviations off by chance happens once in 150,000 runs. */
const sigmas = 4.5
/** What the emulator may add to a delay, at the 99th percentile. */
const maxAddedMs = 0.5

const sequencesOf = (arrivals: readonly Arrival[]) => arrivals.map(({ sequence }) => sequence)

function theWay(hosts: readonly EmulatedHost[], delayMs: number) {
  const [way] = everyWay(hosts, delayMs)
  if (!way) throw new Error('two hosts at least')
  return way
}

describe.skipIf(lacksRoot)('the link emulator', () => {
  it(`adds no more than ${maxAddedMs} ms to a delay, at the 99th percentile`, () =>
    withEmulator({ hosts: 3, delayMs: 5 }, async (emulator, hosts) => {
      const ways = everyWay(hosts, 5).map((way, index) => ({
        ...way,
        delayMs: [5, 12.34, 98.26][index % 3] ?? 5,
      }))
      for (const { from, to, delayMs } of ways) await emulator.setDelay(from, to, delayMs)
      const addedMs = ({ way, delayMs }: Arrival) => delayMs - (ways[way]?.delayMs ?? NaN)
      const calm: Arrival[] = []
      // What arrives while the machine keeps even real-time processes waiting tells nothing: until there is enough else.
      for (let round = 0; round < 10 && calm.length < 2_000; round++) {
        await emulator.resetStatistics()
        const { arrivals } = await probe(ways, { packets: 700, intervalUs: 500, bytes: 100 })
        expect(arrivals).toHaveLength(700 * ways.length)
        const { lateness, packets, delivered } = await emulator.statistics()
        expect(delivered).toBe(packets)
        // It tells of itself no more than what can be seen from outside, to the width of a bucket.
        expect(lateness?.p99Us).toBeLessThanOrEqual(quantile(arrivals.map(addedMs), 0.99) * 1000 + 5)
        calm.push(...arrivals.filter(({ stalled }) => !stalled))
      }
      expect(calm.length).toBeGreaterThanOrEqual(2_000)
      expect(quantile(calm.map(addedMs), 0.99)).toBeLessThanOrEqual(maxAddedMs)
      // Both clocks are the machine's, but only one of them is corrected as it goes.
      expect(quantile(calm.map(addedMs), 0)).toBeGreaterThan(-0.1)
    }))

  it('loses as much as asked, on the links of sender and receiver', () =>
    withEmulator({ hosts: 2, delayMs: 1 }, async (emulator, hosts) => {
      const packets = 20_000
      await emulator.setLoss('all', 0.03)
      const { arrivals } = await probe([theWay(hosts, 1)], { packets, intervalUs: 50, bytes: 100 })
      const arrive = 0.97 ** 2
      const spread = Math.sqrt(packets * arrive * (1 - arrive))
      expect(Math.abs(arrivals.length - packets * arrive)).toBeLessThan(sigmas * spread)
      expect(await emulator.statistics()).toMatchObject({ packets, lost: packets - arrivals.length })
    }))

  it('loses the same packets with the same seed, and others with another', async () => {
    const lostWith = (seed: number) =>
      withEmulator({ hosts: 2, delayMs: 1 }, async (emulator, hosts) => {
        await emulator.setSeed(seed)
        await emulator.setLoss('all', 0.1)
        const { arrivals } = await probe([theWay(hosts, 1)], { packets: 500, intervalUs: 50, bytes: 100 })
        return sequencesOf(arrivals)
      })
    const [first, again, other] = [await lostWith(7), await lostWith(7), await lostWith(8)]
    expect(again).toEqual(first)
    expect(other).not.toEqual(first)
  })

  it('varies delays as asked: a normal distribution of the jitter of both links', () =>
    withEmulator({ hosts: 8, delayMs: 20 }, async (emulator, hosts) => {
      await emulator.setJitter('all', 1)
      const ways = everyWay(hosts, 20)
      // On each way 20 ms apart: none has to wait for another.
      const options = { packets: 100, intervalUs: Math.ceil(20_000 / ways.length), bytes: 100 }
      const samples: number[] = []
      for (let round = 0; round < 10 && samples.length < 4_000; round++) {
        const { arrivals } = await probe(ways, options)
        samples.push(...arrivals.filter(({ stalled }) => !stalled).map(({ delayMs }) => delayMs))
      }
      const expected = Math.SQRT2
      expect(samples.length).toBeGreaterThanOrEqual(4_000)
      // By quantiles, which the few that had to wait for a processor do not change.
      const oneSigma = 0.1587
      const deviationMs = (quantile(samples, 1 - oneSigma) - quantile(samples, oneSigma)) / 2
      const byChance = (sigmas * expected) / Math.sqrt(samples.length)
      expect(Math.abs(deviationMs - expected)).toBeLessThan(0.96 * byChance + 0.05)
      expect(Math.abs(quantile(samples, 0.5) - 20)).toBeLessThan(1.25 * byChance + maxAddedMs)
    }))

  it('keeps the order from one host to another, whatever the jitter', () =>
    withEmulator({ hosts: 2, delayMs: 30 }, async (emulator, hosts) => {
      await emulator.setJitter('all', 10)
      const { arrivals } = await probe([theWay(hosts, 30)], { packets: 3_000, intervalUs: 100, bytes: 100 })
      expect(sequencesOf(arrivals)).toEqual(Array.from({ length: 3_000 }, (_, index) => index))
    }))

  it('lets through what the bandwidth allows, after a queue that is bounded', () =>
    withEmulator({ hosts: 2, delayMs: 5 }, async (emulator, hosts) => {
      const [bitsPerS, queueBytes, payload, packets] = [10_000_000, 125_000, 1_000, 5_000]
      const bytesEach = payload + 28
      await emulator.setBandwidth('all', bitsPerS, queueBytes)
      const probed = await probe([theWay(hosts, 5)], { packets, intervalUs: 200, bytes: payload })
      const through = ((bitsPerS / 8) * (probed.sentMs / 1000) + queueBytes) / bytesEach
      expect(Math.abs(probed.arrivals.length / through - 1)).toBeLessThan(0.03)
      const queueMs = (queueBytes * 8 * 1000) / bitsPerS
      const eachMs = (bytesEach * 8 * 1000) / bitsPerS
      // Most of them found the queue full.
      const usualMs = quantile(
        probed.arrivals.map(({ delayMs }) => delayMs),
        0.5,
      )
      expect(usualMs).toBeGreaterThan(5 + 0.9 * queueMs)
      expect(usualMs).toBeLessThan(5 + queueMs + 2 * eachMs + maxAddedMs)
      const { queueFull, delivered } = await emulator.statistics()
      expect(delivered).toBe(probed.arrivals.length)
      expect(queueFull).toBe(packets - delivered)
    }))

  it('holds 65,536 packets in flight, and counts what it drops beyond', () =>
    withEmulator({ hosts: 2, delayMs: 60_000 }, async (emulator, hosts) => {
      await probe([theWay(hosts, 0)], { packets: 70_000, intervalUs: 10, bytes: 16 })
      const { packets, inFlight, poolFull } = await emulator.statistics()
      expect(inFlight).toBe(65_536)
      expect(poolFull).toBe(packets - 65_536)
      expect(poolFull).toBeGreaterThan(0)
    }))

  it('counts what goes where it was told no way to', () =>
    withEmulator({ hosts: 2, delayMs: 1 }, async (emulator, hosts) => {
      const stranger = await emulator.addHost('10.0.0.9')
      const { from } = theWay(hosts, 1)
      await probe([{ from, to: stranger, delayMs: 1 }], { packets: 10, intervalUs: 50, bytes: 16 })
      expect(await emulator.statistics()).toMatchObject({ packets: 10, unroutable: 10, delivered: 0 })
    }))

  it('refuses what is no command, and goes on', () =>
    withEmulator({ hosts: 2, delayMs: 1 }, async (emulator, hosts) => {
      const refused = { code: 'LINK_EMULATOR_FAILED' }
      await expect(emulator.setLoss('all', 1.5)).rejects.toMatchObject(refused)
      await expect(emulator.setLoss('all', NaN)).rejects.toMatchObject(refused)
      await expect(emulator.addHost('10.0.0.1')).rejects.toMatchObject(refused)
      await expect(emulator.addHost('fd00::1')).rejects.toMatchObject(refused)
      const { from } = theWay(hosts, 1)
      await expect(emulator.setDelay(from, { ...from, index: 2 }, 1)).rejects.toMatchObject(refused)
      expect(await emulator.statistics()).toMatchObject({ packets: 0 })
    }))

  it('rejects what is asked after its end', async () => {
    const emulator = await withEmulator({ hosts: 1, delayMs: 1 }, (running) => Promise.resolve(running))
    await emulator.stop()
    await expect(emulator.statistics()).rejects.toMatchObject({ code: 'LINK_EMULATOR_FAILED' })
  })

  it('tells when it ends by itself, and takes its namespaces with it', () =>
    withEmulator({ hosts: 1, delayMs: 1 }, async (emulator, hosts) => {
      const namespace = hosts[0]?.namespace ?? ''
      expect(existsSync(namespace)).toBe(true)
      const { promise: ended, resolve } = Promise.withResolvers<Event>()
      emulator.failed.addEventListener('abort', resolve)
      process.kill(Number(namespace.split('/')[2]), 'SIGKILL')
      await ended
      expect(emulator.failed.reason).toMatchObject({ code: 'LINK_EMULATOR_FAILED' })
      expect(existsSync(namespace)).toBe(false)
    }))
})
