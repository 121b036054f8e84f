import { nodeId, instructions, partA, statusOf, TrackerStory } from './tracker-core.testkit.ts'

/** Prints what 5,000 joins cost the core. Run: node --conditions=runnel-src packages/tracker/src/core/speed.testkit.ts */
const joins = 5_000

function measure(seed: string): string {
  const story = new TrackerStory({ seed })
  const ids = Array.from({ length: joins }, (_, n) => nodeId(n + 1))
  let statuses = 0
  const startMs = performance.now()
  for (const id of ids) {
    for (const { to, counter } of instructions([...story.join(id), ...story.advance(60)])) {
      story.packet(to, statusOf(partA, counter))
      statuses++
    }
  }
  const tookMs = performance.now() - startMs
  const perJoin = (value: number) => (value / joins).toFixed(3)
  const sent = story.core.counters.get('instructions')
  return `${perJoin(tookMs)} ms, ${perJoin(sent)} instructions and ${perJoin(statuses)} answering statuses a join`
}

for (const seed of ['warm-up', 'a', 'b', 'c']) process.stdout.write(`${seed}: ${measure(seed)}\n`)
