import { seededRandom } from '@runnel/protocol'
import { describe, expect, it } from 'vitest'
import { overlaySnapshot } from '../cluster/overlay-snapshot.ts'
import { predictionLimits, Predictions } from '../http/predictions.ts'
import { instructions, nodeId, partA, statusOf, TrackerStory, webrtcContact } from './tracker-core.testkit.ts'

const [liar, unknown] = [nodeId(90), nodeId(99)]

/** Twenty nodes of an overlay that obey, and a liar who is among them. */
function besieged(): TrackerStory {
  const story = new TrackerStory({ overlay: 'topology-aware' })
  for (let n = 1; n <= 20; n++) story.connect(nodeId(n), webrtcContact, `network ${n}`)
  for (let n = 1; n <= 20; n++) story.packet(nodeId(n), statusOf(partA))
  story.connect(liar, webrtcContact, 'hostile')
  story.packet(liar, statusOf(partA))
  obey(story, 0)
  return story
}

function obey(story: TrackerStory, from: number): void {
  for (const { to, counter, neighbours } of instructions(story.effects.slice(from)))
    if (to !== liar) story.packet(to, statusOf(partA, counter, neighbours))
}

/** What the liar does every two seconds, for two minutes. Looks at the stream part after each time. */
function lie(story: TrackerStory, lies: (time: number) => void) {
  const seen: { known: boolean; improves: boolean; replicated: number }[] = []
  for (let time = 1; time <= 60; time++) {
    const from = story.effects.length
    lies(time)
    story.advance(2_000)
    obey(story, from)
    const part = story.core.streamParts.get(partA)
    seen.push({
      known: part?.isKnown ?? false,
      improves: (part?.improvementsDue ?? 0) > 0,
      replicated: overlaySnapshot(story.core, partA)?.length ?? 0,
    })
  }
  return seen
}

describe('a liar that names unknown neighbours again and again', () => {
  for (const [how, act] of [
    [
      'with ever higher counters',
      (story: TrackerStory, time: number) =>
        story.packet(liar, statusOf(partA, 1_000 * time, [unknown, nodeId(100 + time)])),
    ],
    [
      'leaving and joining',
      (story: TrackerStory, time: number) => {
        story.packet(liar, { type: 'leave', streamPartId: partA })
        story.packet(liar, statusOf(partA, time, [unknown]))
      },
    ],
  ] as const) {
    it(`${how} holds up neither improvements nor replicas, and joins like everybody else`, () => {
      const story = besieged()
      const seen = lie(story, (time) => act(story, time))
      for (const each of seen) {
        expect(each).toMatchObject({ known: true, improves: true })
        expect(each.replicated).toBeGreaterThanOrEqual(20)
      }
      expect(story.core.counters.get('adoptions')).toBeLessThanOrEqual(3)
      expect(story.core.counters.get('claimsIgnored')).toBeGreaterThan(0)
      const topology = story.core.streamParts.get(partA)?.topology
      for (let n = 1; n <= 20; n++) expect(topology?.neighbours(nodeId(n)).size).toBe(4)
      expect(topology?.neighbours(liar).size).toBe(4)
    })
  }
})

it('a liar that tells of a round-trip time of days does not spoil what is predicted for others', async () => {
  const story = besieged()
  const part = story.core.streamParts.get(partA)
  if (part === undefined) throw new Error('nobody has joined')
  story.advance(1_000)
  for (const [id, { toldCounter }] of part.members) {
    const rttMs = id === liar ? 429_496_729 : 20
    const neighbours = [...part.topology.neighbours(id)].map((other) => ({ nodeId: other, rttMs }))
    story.packet(id, { ...statusOf(partA, toldCounter), neighbours })
  }
  const predictions = new Predictions(
    { processingMs: 1, limits: predictionLimits },
    { random: seededRandom('prediction'), nowMs: () => story.now, turn: async () => {} },
  )
  const { delays } = (await predictions.of(part)) ?? {}
  expect(delays?.meanMs).toBeGreaterThan(10)
  expect(delays?.meanMs).toBeLessThan(1_000)
})
