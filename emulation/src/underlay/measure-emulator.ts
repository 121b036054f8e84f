// Prints what the link emulator can do on this machine, beside veth of the same run:
//   node --conditions=runnel-src emulation/src/underlay/measure-emulator.ts
import { pathToFileURL } from 'node:url'
import { LinkEmulator, type EmulatedHost } from './link-emulator.ts'
import { probe, type Probed, type ProbedWay, type ProbeOptions } from './probe.ts'
import { quantile } from './statistics.ts'
import { openVethPair } from './veth-pair.ts'

const delayMs = 50
/** What 64 nodes exchange in the experiments is less. */
const experiments: ProbeOptions = { packets: 20_000, intervalUs: 33, bytes: 200 }
const flood: ProbeOptions = { packets: 200_000, intervalUs: 0, bytes: 100 }

/** What was measured on one path. */
export interface PathFigures {
  /** Packets a second that arrive when as many are sent as can be. */
  readonly capacity: number
  /** Packets a second that were asked for, next. */
  readonly askedRate: number
  readonly sentRate: number
  /** Of packets that were not sent or due while the machine stalled, and their part of all. */
  readonly addedMs: { readonly p50: number; readonly p99: number; readonly max: number }
  readonly calmPercent: number
  /** Of all packets. */
  readonly addedOfAllMs: { readonly p50: number; readonly p99: number; readonly max: number }
  readonly lost: number
  /** How late the machine wakes real-time processes, meanwhile. */
  readonly wakeP99Ms: number
}

/** Needs root. */
export async function measureEmulator() {
  const emulator = new LinkEmulator()
  try {
    await emulator.start()
    const hosts: EmulatedHost[] = []
    for (let index = 1; index <= 16; index++) hosts.push(await emulator.addHost(`10.0.0.${index}`))
    const ways = hosts.flatMap((from, index) => {
      const to = hosts[(index + 1) % hosts.length]
      return to ? [{ from, to, delayMs }] : []
    })
    for (const { from, to } of ways) await emulator.setDelay(from, to, delayMs)
    const emulated = await figures(ways, () => emulator.resetStatistics())
    const { lateness, realTime } = await emulator.statistics()
    return { emulated: { ...emulated, lateness, realTime }, veth: await measureVeth() }
  } finally {
    await emulator.stop()
  }
}

async function measureVeth(): Promise<PathFigures> {
  const pair = openVethPair()
  try {
    return await figures([{ ...pair, delayMs: 0 }])
  } finally {
    pair.close()
  }
}

async function figures(ways: readonly ProbedWay[], between = async () => {}): Promise<PathFigures> {
  const flooded = await probe(ways.slice(0, 1), flood)
  await between()
  const each = { ...experiments, packets: Math.round((experiments.packets * 8) / ways.length) }
  const probed = await probe(ways, each)
  const added = ({ way, delayMs: tookMs }: Probed['arrivals'][number]) => tookMs - (ways[way]?.delayMs ?? NaN)
  const calm = probed.arrivals.filter(({ stalled }) => !stalled)
  const sent = each.packets * ways.length
  return {
    capacity: Math.round(flooded.arrivals.length / (flooded.sentMs / 1000)),
    askedRate: Math.round(1e6 / each.intervalUs),
    sentRate: Math.round(sent / (probed.sentMs / 1000)),
    addedMs: spread(calm.map(added)),
    calmPercent: round((100 * calm.length) / probed.arrivals.length),
    addedOfAllMs: spread(probed.arrivals.map(added)),
    lost: sent - probed.arrivals.length,
    wakeP99Ms: round(probed.wakeP99Ms),
  }
}

function spread(samples: readonly number[]) {
  return {
    p50: round(quantile(samples, 0.5)),
    p99: round(quantile(samples, 0.99)),
    max: round(quantile(samples, 1)),
  }
}

function round(value: number): number {
  return Math.round(value * 1000) / 1000
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href)
  process.stdout.write(`${JSON.stringify(await measureEmulator(), null, 2)}\n`)
