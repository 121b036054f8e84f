import { toStreamId, toStreamPartId } from '@runnel/protocol'
import { describe, expect, it } from 'vitest'
import { networkLimits } from '../../limits.ts'
import { streamId } from '../core.testkit.ts'
import { otherPartId, script, wayTo } from './tracker-links.testkit.ts'

const { statusBurst } = networkLimits
const reconnectsMs = 61_000
const parts = Array.from({ length: 2 * statusBurst }, (_, i) =>
  toStreamPartId(toStreamId(`${streamId}/${Math.floor(i / 100)}`), i % 100),
)
const isLate = (i: number): boolean => i >= statusBurst

/** A node in twice as many stream parts as a tracker takes statuses of at once; its tracker was lost, and all have been told their neighbours. */
function disconnected() {
  const node = script(1)
  const { links, reported, until } = node
  for (const part of parts) links.join(part, 0)
  links.opened(wayTo(1), 0)
  links.flush(0)
  for (const part of parts) links.instructed(wayTo(1), part, 0)
  until(60_000)
  links.closed(wayTo(1), 60_000)
  links.flush(60_000)
  until(reconnectsMs)
  reported.length = 0
  return node
}

describe('of more stream parts than a tracker takes statuses of', () => {
  it('those that lost a neighbour are reported first, also when that was before the tracker came back', () => {
    const { links, reported } = disconnected()
    const [before, after] = parts.slice(-2)
    links.statusDue(before!, true)
    links.flush(reconnectsMs)
    links.opened(wayTo(1), reconnectsMs)
    links.statusDue(after!, true)
    links.flush(reconnectsMs)
    expect(reported).toHaveLength(statusBurst)
    expect(reported.slice(0, 3)).toEqual([before, after, parts[0]])
  })

  it('and those that no tracker has taken in yet', () => {
    const { links, reported } = disconnected()
    const fresh = toStreamPartId(toStreamId(`${streamId}/new`), 0)
    links.opened(wayTo(1), reconnectsMs)
    links.join(fresh, reconnectsMs)
    links.flush(reconnectsMs)
    expect(reported.slice(0, 2)).toEqual([fresh, parts[0]])
  })

  it('but they leave the others a part of the turns, and are first only once', () => {
    const { links, reported, until } = disconnected()
    links.opened(wayTo(1), reconnectsMs)
    const late = parts.filter((_, i) => isLate(i))
    for (const part of late) links.statusDue(part, true)
    links.flush(reconnectsMs)
    expect(reported.filter((part) => !late.includes(part))).toHaveLength(statusBurst / 4)
    until(reconnectsMs + 60_000)
    expect(new Set(reported).size).toBe(parts.length)
    reported.length = 0
    for (const part of parts) links.statusDue(part)
    links.flush(reconnectsMs + 60_000)
    expect(reported).toEqual(parts.slice(0, reported.length))
  })

  it('and another tracker is told at once', () => {
    const { links, reported, setOther } = script(1)
    setOther(2)
    for (const part of [...parts, otherPartId]) links.join(part, 0)
    links.opened(wayTo(1), 0)
    links.flush(0)
    expect(reported).toEqual(parts.slice(0, statusBurst))
    links.opened(wayTo(2), 1)
    expect(links.hasNews).toBe(true)
    links.flush(1)
    expect(reported.slice(statusBurst)).toEqual([otherPartId])
  })
})
