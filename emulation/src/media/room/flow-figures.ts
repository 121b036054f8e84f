import { FrameOrder, JitterBuffer } from '@runnel/media'

/** A frame that came; times in milliseconds. */
export interface FlowArrival {
  readonly timestampMs: number
  readonly arrivedMs: number
  readonly group: number
  readonly object: number
  readonly isKey: boolean
  readonly dependency: number
}

/** What is measured: frames recorded, and times, from and until. */
export interface Window {
  readonly fromMs: number
  readonly untilMs: number
}

const nothing = new Uint8Array(0)

/** Interarrival jitter (RFC 3550, section 6.4.1) after each frame. */
export function jittersMs(arrivals: readonly FlowArrival[]): number[] {
  let [jitterMs, lastMs] = [0, undefined as number | undefined]
  return arrivals.map(({ timestampMs, arrivedMs }) => {
    const delayMs = arrivedMs - timestampMs
    if (lastMs !== undefined) jitterMs += (Math.abs(delayMs - lastMs) - jitterMs) / 16
    lastMs = delayMs
    return jitterMs
  })
}

/** What a player would have played of a voice, by the jitter buffer of `@runnel/media`: frames in the window, and those of them made up or silent. */
export function playVoice(
  arrivals: readonly FlowArrival[],
  frameMs: number,
  { fromMs, untilMs }: Window,
): { readonly played: number; readonly recovered: number; readonly concealed: number } {
  const buffer = new JitterBuffer({ frameMs })
  const steps = { played: 0, recovered: 0, concealed: 0 }
  let next = 0
  for (let nowMs = arrivals[0]?.arrivedMs ?? untilMs; nowMs < untilMs; nowMs += frameMs) {
    for (
      let arrival = arrivals[next];
      arrival !== undefined && arrival.arrivedMs <= nowMs;
      arrival = arrivals[++next]
    )
      buffer.push({ timestampUs: arrival.timestampMs * 1_000, level: 30, data: nothing }, arrival.arrivedMs)
    const { type } = buffer.pull(nowMs)
    if (nowMs >= fromMs) steps[type === 'frame' ? 'played' : type === 'recover' ? 'recovered' : 'concealed']++
  }
  return steps
}

/** When which picture could be decoded: in order, without those that build on one that did not come. */
export function decodable<Arrival extends FlowArrival>(
  arrivals: readonly Arrival[],
): { readonly arrival: Arrival; readonly atMs: number }[] {
  const order = new FrameOrder()
  const byPlace = new Map(arrivals.map((arrival) => [`${arrival.group} ${arrival.object}`, arrival]))
  const shown: { arrival: Arrival; atMs: number }[] = []
  const show = (pictures: readonly { group: number; object: number }[], atMs: number): void => {
    for (const { group, object } of pictures) {
      const arrival = byPlace.get(`${group} ${object}`)
      if (arrival !== undefined) shown.push({ arrival, atMs })
    }
  }
  for (const arrival of arrivals) {
    const { arrivedMs, timestampMs, group, object, isKey, dependency } = arrival
    while (order.dueMs !== undefined && order.dueMs <= arrivedMs) show(order.take(order.dueMs), order.dueMs)
    const picture = { group, object, isKey, dependency, temporalLayer: 0, data: nothing }
    show(order.push({ ...picture, timestampUs: timestampMs * 1_000 }, arrivedMs), arrivedMs)
  }
  return shown
}

/** Gaps between pictures of at least three of their intervals, and 150 ms more than one: what viewers see as a freeze. */
export function freezes(shownMs: readonly number[], everyMs: number, { fromMs, untilMs }: Window): number {
  const leastMs = Math.max(3 * everyMs, everyMs + 150)
  const times = [...shownMs.filter((atMs) => atMs >= fromMs && atMs < untilMs), untilMs]
  return times.filter((atMs, i) => atMs - (times[i - 1] ?? fromMs) >= leastMs).length
}
