import { Alarm, decodePacket, PacketType, readPackets, type Mark } from '@runnel/protocol'
import { describe, expect, it } from 'vitest'
import { VirtualClock } from '../memory/virtual-clock.ts'
import { ArrivalLog } from './arrival-log.ts'
import { urgentLimits } from './limits.ts'
import { UrgentSender } from './urgent-sender.ts'

interface Line {
  readonly kbitPerS: number
  readonly oneWayMs: number
  readonly offeredKbitPerS: number
  readonly forMs: number
}

/** The first seconds of a camera of 30 pictures a second over a line: what came, and the longest that a frame waited before the line. */
function firstSeconds({ kbitPerS, oneWayMs, offeredKbitPerS, forMs }: Line) {
  const clock = new VirtualClock()
  const arrivals = new ArrivalLog()
  const report = new Alarm({ onDue: () => tell() }, { clock })
  const alarm = new Alarm({ onDue: () => look() }, { clock })
  let [freeAtMs, waitedMs, arrivedBytes] = [0, 0, 0]
  const sender = new UrgentSender(urgentLimits, {
    ...{ clock, rttMs: () => 2 * oneWayMs, lane: () => undefined, bufferedBytes: () => 0 },
    hand: (frame) => {
      const nowMs = clock.monotonicMs()
      waitedMs = Math.max(waitedMs, freeAtMs - nowMs)
      freeAtMs = Math.max(freeAtMs, nowMs) + (frame.length * 8) / kbitPerS
      const mark = readPackets(frame).find(({ type }) => type === PacketType.mark)
      const { number } = decodePacket(PacketType.mark, mark?.body ?? frame) as Mark
      clock.schedule(freeAtMs + oneWayMs - nowMs, () => {
        arrivedBytes += frame.length
        arrivals.add(number, clock.monotonicMs())
        report.set(arrivals.dueMs)
      })
    },
    ...{ dropped: () => {}, repeated: () => {} },
  })
  const look = (): void => {
    if (sender.starvedDueMs <= clock.monotonicMs()) sender.starved()
    sender.flush()
    alarm.set(Math.min(sender.sendDueMs, sender.starvedDueMs))
  }
  const tell = (): void => {
    const packet = arrivals.take(clock.monotonicMs())
    clock.schedule(oneWayMs, () => {
      sender.arrived(packet)
      look()
    })
  }
  const pictureBytes = (offeredKbitPerS * 1_000) / 8 / 30
  const show = (object: number): void => {
    sender.push({
      ...{ batchBytes: new Uint8Array(object === 0 ? 6 * pictureBytes : pictureBytes), headerBytes: 0 },
      ...{ publisher: 'p', chain: 'c', deadlineMs: clock.monotonicMs() + 1_000 },
      ...{ priority: 9, group: 0, object, order: 'oldest' },
    })
    look()
  }
  for (let object = 0; object * 33 < forMs; object++) clock.schedule(object * 33, () => show(object))
  clock.advanceBy(forMs)
  return { waitedMs, kbitPerS: (arrivedBytes * 8) / forMs }
}

describe.each([5, 50, 150])('urgent messages on a line of %s ms', (oneWayMs) => {
  it.each([
    [60, 2_100],
    [100, 1_400],
    [200, 800],
  ])('of %s kbit/s that is offered far more have no more than %s ms of queue', (kbitPerS, mostMs) => {
    const { waitedMs, kbitPerS: came } = firstSeconds({
      ...{ kbitPerS, oneWayMs, offeredKbitPerS: 400, forMs: 10_000 },
    })
    expect(waitedMs).toBeLessThan(mostMs)
    expect(came).toBeGreaterThan(0.9 * kbitPerS)
  })

  it('of 5 Mbit/s come at the rate of a camera within two seconds', () => {
    const line = { kbitPerS: 5_000, oneWayMs, offeredKbitPerS: 2_000 }
    const [two, three] = [2_000, 3_000].map((forMs) => firstSeconds({ ...line, forMs }))
    const inThird = 3 * (three?.kbitPerS ?? 0) - 2 * (two?.kbitPerS ?? 0)
    expect(inThird).toBeGreaterThan(0.95 * 2_000)
  })
})
