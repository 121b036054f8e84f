import { mean, percentile, round } from '@runnel/sim/statistics'
import { decodable, freezes, jittersMs, playVoice, type FlowArrival, type Window } from './flow-figures.ts'
import type { MemberRecord } from './member-record.ts'

export interface RoomMeasurements {
  readonly records: readonly MemberRecord[]
  /** By the clock of the records. */
  readonly window: Window
  /** So many times slower did time go. */
  readonly dilation: number
  readonly picturesPerS: number
  /** Where a member is, and how long the underlay takes from one site to another. */
  siteOf(name: string): string
  delayMs(from: string, to: string): number
}

interface Flow {
  readonly from: string
  readonly to: string
  readonly expected: number
  readonly arrivals: readonly FlowArrival[]
  /** Of the window. */
  readonly delaysMs: readonly number[]
  readonly jitterMs: number
}

const soundMs = 20

/** What came of a room, in the time of the room. */
export function roomFigures(room: RoomMeasurements) {
  const { window } = room
  const [sound, pictures] = [flowsOf('audio', room), flowsOf('video', room)]
  const voices = sound.map(({ arrivals }) => playVoice(arrivals, soundMs, window))
  const [concealed, recovered] = [sum(voices, 'concealed'), sum(voices, 'recovered')]
  const frozen = pictures.map(({ arrivals }) =>
    freezes(
      decodable(arrivals).map(({ atMs }) => atMs),
      1_000 / room.picturesPerS,
      window,
    ),
  )
  const minutes = (pictures.length * (window.untilMs - window.fromMs)) / 60_000
  return {
    ...figuresOf('sound', sound),
    ...figuresOf('picture', pictures),
    concealedPercent: share(concealed, concealed + recovered + sum(voices, 'played')),
    recoveredPercent: share(recovered, concealed + recovered + sum(voices, 'played')),
    freezesPerMinute: minutes === 0 ? null : round(frozen.reduce((total, one) => total + one, 0) / minutes),
    ...copiesAndLoad(room),
    ...betweenEuropeans(room, sound),
  }
}

function flowsOf(kind: 'audio' | 'video', { records, window }: RoomMeasurements): Flow[] {
  const senders = records.filter(({ sentUs }) => sentUs[kind].length > 0)
  return senders.flatMap(({ name: from, sentUs }) => {
    const isIn = (ms: number): boolean => ms >= window.fromMs && ms < window.untilMs
    const expected = sentUs[kind].filter((us) => isIn(us / 1_000)).length
    return records.flatMap(({ name: to, arrived }) => {
      if (to === from) return []
      const arrivals = arrived
        .filter((one) => one.kind === kind && one.from === from)
        .map((one) => ({
          ...one,
          timestampMs: one.timestampUs / 1_000,
          arrivedMs: one.arrivedUs / 1_000,
        }))
      const jitters = jittersMs(arrivals)
      const measured = [...arrivals.keys()].filter((i) => isIn(arrivals[i]?.timestampMs ?? NaN))
      const delaysMs = measured.map(
        (i) => (arrivals[i]?.arrivedMs ?? NaN) - (arrivals[i]?.timestampMs ?? NaN),
      )
      const jitterMs = mean(measured.map((i) => jitters[i] ?? NaN)) ?? NaN
      return { from, to, expected, arrivals, delaysMs, jitterMs }
    })
  })
}

function figuresOf(name: 'sound' | 'picture', flows: readonly Flow[]) {
  const delaysMs = flows.flatMap((flow) => flow.delaysMs)
  const expected = flows.reduce((total, flow) => total + flow.expected, 0)
  const at = (part: number) => rounded(percentile(delaysMs, part))
  return {
    [`${name}Frames`]: expected,
    [`${name}P50Ms`]: at(0.5),
    [`${name}P95Ms`]: at(0.95),
    [`${name}P99Ms`]: at(0.99),
    [`${name}LossPercent`]: share(expected - delaysMs.length, expected),
    [`${name}JitterMs`]: rounded(
      mean(flows.map(({ jitterMs }) => jitterMs).filter((ms) => !Number.isNaN(ms))),
    ),
  }
}

/** Copies of each frame that came, the first included, and the processor time of members, as a part of one. */
function copiesAndLoad({ records, window, dilation }: RoomMeasurements) {
  const isIn = (us: number): boolean => us >= 1_000 * window.fromMs && us < 1_000 * window.untilMs
  const spent = records.map(({ samples, arrived }) => {
    const inside = samples.filter(({ atUs }) => isIn(atUs))
    const [first, last] = [inside[0], inside.at(-1)]
    const came = (kind: 'audio' | 'video'): number =>
      arrived.filter(
        (one) =>
          one.kind === kind && one.arrivedUs >= (first?.atUs ?? 0) && one.arrivedUs < (last?.atUs ?? 0),
      ).length
    return {
      cpuPercent:
        (100 * ((last?.cpuUs ?? 0) - (first?.cpuUs ?? 0))) /
        (dilation * ((last?.atUs ?? 0) - (first?.atUs ?? 0))),
      sound: came('audio'),
      soundAgain: (last?.soundAgain ?? 0) - (first?.soundAgain ?? 0),
      pictures: came('video'),
      picturesAgain: (last?.picturesAgain ?? 0) - (first?.picturesAgain ?? 0),
    }
  })
  const copies = (first: 'sound' | 'pictures', again: 'soundAgain' | 'picturesAgain') =>
    sum(spent, first) === 0 ? null : round(1 + sum(spent, again) / sum(spent, first))
  return {
    soundCopies: copies('sound', 'soundAgain'),
    pictureCopies: copies('pictures', 'picturesAgain'),
    cpuPercent: rounded(mean(spent.map(({ cpuPercent }) => cpuPercent))),
  }
}

/** There and back between members in Europe, each way's median, beside the underlay's own; null where there are no two that speak. */
function betweenEuropeans({ siteOf, delayMs }: RoomMeasurements, sound: readonly Flow[]) {
  const inEurope = (name: string): boolean => siteOf(name).startsWith('eu-')
  const flows = sound.filter(({ from, to }) => inEurope(from) && inEurope(to))
  const pairs = flows.flatMap((there) => {
    const back = flows.find(({ from, to }) => from === there.to && to === there.from)
    if (back === undefined || there.from > there.to) return []
    const [from, to] = [siteOf(there.from), siteOf(there.to)]
    return {
      rttMs: (percentile(there.delaysMs, 0.5) ?? NaN) + (percentile(back.delaysMs, 0.5) ?? NaN),
      underlayMs: delayMs(from, to) + delayMs(to, from),
      jitterMs: (there.jitterMs + back.jitterMs) / 2,
    }
  })
  return {
    europeRttMs: rounded(mean(pairs.map(({ rttMs }) => rttMs))),
    europeUnderlayRttMs: rounded(mean(pairs.map(({ underlayMs }) => underlayMs))),
    europeJitterMs: rounded(mean(pairs.map(({ jitterMs }) => jitterMs))),
  }
}

const rounded = (value: number | undefined): number | null =>
  value === undefined || Number.isNaN(value) ? null : round(value)
const share = (part: number, all: number): number | null => (all === 0 ? null : round((100 * part) / all))

function sum<Key extends string>(items: readonly Readonly<Record<Key, number>>[], key: Key): number {
  return items.reduce((total, item) => total + item[key], 0)
}
