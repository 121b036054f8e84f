import { seededRandom, toStreamPartId, type NodeId, type StreamPartId } from '@runnel/protocol'
import { expect, it } from 'vitest'
import { networkLimits } from '../../limits.ts'
import { idOf, streamId } from '../core.testkit.ts'
import { nameOf, urlOf } from './tracker-links.testkit.ts'
import { TrackerLinks } from './tracker-links.ts'
import type { Way } from './way.ts'

const trackers = [1, 2, 3, 4]
const parts = [0, 1, 2].map((partition) => toStreamPartId(streamId, partition))
const unrestMs = 120_000
/** Longer than any pause of a tracker that has failed, and until it has proved to stay. */
const calmMs = 60_000

/** Trackers that come and go and redirect at random, truly or not, for a while; afterwards all can be reached, all answer, and none redirects. */
function wander(seed: string) {
  const random = seededRandom(seed)
  const below = (limit: number) => Math.floor(random.next() * limit)
  const chance = (of: number) => random.next() < of
  const open = new Map<string, Way>()
  const dials = new Map<string, { way: Way; endsAtMs: number }>()
  let [nowMs, sent, calm] = [0, 0, false]
  const links = new TrackerLinks(networkLimits, {
    trackersFor: (part) => {
      const shift = parts.indexOf(part)
      return trackers.map((_, i) => {
        const n = trackers[(i + shift) % trackers.length] ?? 0
        return { nodeId: idOf(n), url: urlOf(n) }
      })
    },
    random: () => random.next(),
    effects: {
      dial: (way) => {
        expect(dials.has(way.key) || open.has(way.key), `${nameOf(way)} twice`).toBe(false)
        const hangs = !calm && chance(0.2)
        dials.set(way.key, { way, endsAtMs: nowMs + (hangs ? 15_000 : 10 + below(50)) })
      },
      hangUp: (way) => {
        dials.delete(way.key)
        open.delete(way.key)
      },
      sendNodeInfo: () => sent++,
      sendStatus: (way) => {
        expect(open.has(way.key)).toBe(true)
        sent++
      },
      sendLeave: () => sent++,
      newSession: () => undefined,
      newTracker: () => undefined,
      silent: () => undefined,
      partFailed: (_, error) => {
        throw error
      },
      trackerFailed: (_, error) => {
        throw error
      },
    },
  })
  const aPart = (): StreamPartId => parts[below(parts.length)] ?? toStreamPartId(streamId, 0)
  const aTracker = (): NodeId => idOf(trackers[below(trackers.length)] ?? 1)
  const endDials = () => {
    for (const [key, { way, endsAtMs }] of dials) {
      if (endsAtMs > nowMs) continue
      dials.delete(key)
      if (calm || chance(0.5)) {
        open.set(key, way)
        links.opened(way, nowMs)
      } else links.closed(way, nowMs)
    }
  }
  const disturb = () => {
    for (const way of [...open.values()]) {
      if (chance(0.01)) {
        open.delete(way.key)
        links.closed(way, nowMs)
      } else if (chance(0.1)) links.redirected(way, aPart(), aTracker(), nowMs)
      else if (chance(0.1)) links.instructed(way, aPart(), nowMs)
    }
  }
  const answer = () => {
    for (const way of [...open.values()]) for (const part of parts) links.instructed(way, part, nowMs)
  }
  const pass = (ms: number) => {
    for (const endMs = nowMs + ms; nowMs < endMs; nowMs += 50) {
      endDials()
      if (!calm) disturb()
      else answer()
      if (links.dueMs <= nowMs) links.tick(nowMs)
      links.flush(nowMs)
      const ids = Array.from(open.values(), ({ trackerId }) => trackerId)
      expect(new Set(ids).size).toBe(ids.length)
    }
  }
  for (const part of parts) links.join(part, nowMs)
  pass(unrestMs)
  const sentInUnrest = sent
  calm = true
  pass(calmMs)
  return { homes: parts.map((part) => links.homeOf(part)), sentInUnrest }
}

it('whatever trackers did and said, each stream part ends up at its first, with a bounded number of packets', () => {
  for (let i = 0; i < 40; i++) {
    const { homes, sentInUnrest } = wander(`wandering ${i}`)
    expect(homes, `seed ${i}`).toEqual([1, 2, 3].map(idOf))
    expect(sentInUnrest).toBeLessThan(1_500)
  }
})
