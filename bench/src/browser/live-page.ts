import type { PhaseTimes } from '@runnel/client'

/** From the navigation on, in milliseconds. */
export interface LoadFigures {
  readonly startedMs: number
  readonly firstMessageMs: number
  /** From the start of the client on. */
  readonly phases: PhaseTimes
}

/** What a page noticed of its own frames and tasks for a while. */
interface FrameFigures {
  readonly received: number
  readonly forwarded: number
  readonly frames: number
  readonly longestFrameMs: number
  readonly framesAbove50Ms: number
  /** 0 when no task took 50 ms, below which a browser reports none. */
  readonly longestTaskMs: number
}

/** What the page has for the benchmark. */
export interface LivePage {
  readonly firstMessage: Promise<LoadFigures>
  /** Resolves when there are so many neighbours. */
  ready(neighbours: number): Promise<void>
  watch(ms: number): Promise<FrameFigures>
}

/** A page that subscribes as soon as it can, and animates. */
export const livePage = `<!doctype html><meta charset="utf-8"><title>live</title><link rel="icon" href="data:,">
<div id="box" style="width:50px;height:50px;background:teal;position:absolute"></div>
<script type="module">
import { createClient } from './runnel.js'
const { config, streamId } = JSON.parse(new URLSearchParams(location.search).get('run'))
const startedMs = performance.now()
let told
globalThis.firstMessage = new Promise((resolve) => (told = resolve))
const client = await createClient(config)
await client.subscribe(streamId, {}, () => {
  told?.({ startedMs, firstMessageMs: performance.now(), phases: client.phases })
  told = undefined
})
const counters = () => client.network.metrics().counters
globalThis.ready = (count) => client.network.waitForNeighbours(client.network.streamParts[0], { count })
globalThis.watch = async (ms) => {
  const before = counters()
  let longestTaskMs = 0
  const observer = new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) longestTaskMs = Math.max(longestTaskMs, duration)
  })
  observer.observe({ type: 'longtask' })
  const gaps = []
  const startMs = performance.now()
  let lastMs = startMs
  while (lastMs - startMs < ms) {
    const nowMs = await new Promise(requestAnimationFrame)
    box.style.left = nowMs % 500 + 'px'
    gaps.push(nowMs - lastMs)
    lastMs = nowMs
  }
  observer.disconnect()
  const after = counters()
  return {
    received: after['data.messages'] - before['data.messages'],
    forwarded: after['data.forwarded'] - before['data.forwarded'],
    frames: gaps.length,
    longestFrameMs: Math.round(Math.max(...gaps)),
    framesAbove50Ms: gaps.filter((gap) => gap > 50).length,
    longestTaskMs,
  }
}
</script>`
