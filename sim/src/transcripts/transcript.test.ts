import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { kindsIn, playTranscript, recordTranscript, type Step } from './transcript.ts'

const file = new URL('../../../packages/protocol/vectors/transcripts/1.0.json', import.meta.url)
const steps = JSON.parse(readFileSync(file, 'utf8')) as Step[]
const messages = 20

describe('a node of wire 1.0, as it was recorded', () => {
  it('says what is still read, and encoded as it was', () => {
    expect(kindsIn(steps)).toEqual(new Set(['nodeInfo', 'status', 'attach', 'heads', 'data']))
  })

  it('is a member and a neighbour like any other to nodes and a tracker of this version', async () => {
    const { world, others, heard } = await playTranscript(steps)
    const numbers = Array.from({ length: messages }, (_, number) => number)
    expect(heard).toEqual([numbers, numbers])
    for (const { node } of others) {
      const { counters, streamParts } = node.metrics()
      expect([counters['peers.misbehaved'], counters['packets.unknown']]).toEqual([0, 0])
      expect(streamParts[0]?.neighbours.length).toBe(2)
    }
    expect(world.tracked?.members.size).toBe(3)
    expect(world.tracker.counters.get('malformedStatuses')).toBe(0)
  })

  it('is what a node of this version still does', async () => {
    expect(kindsIn(await recordTranscript())).toEqual(kindsIn(steps))
  })
})
