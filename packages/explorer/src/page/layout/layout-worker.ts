import { ForceLayout } from './force-layout.ts'
import { frameMs, type LayoutAnswer, type LayoutRequest } from './layout-input.ts'

/** Computes the layout where it cannot hold up the page. */

const layout = new ForceLayout()
let generation = 0
let timer: ReturnType<typeof setTimeout> | undefined

addEventListener('message', ({ data }: MessageEvent<LayoutRequest>) => {
  clearTimeout(timer)
  generation = data.generation
  layout.take(data)
  tell()
})

function tell(): void {
  const answer: LayoutAnswer = { generation, positions: layout.positions(), resting: layout.resting }
  postMessage(answer, { transfer: [answer.positions.buffer] })
  if (!answer.resting) timer = setTimeout(move, frameMs)
}

function move(): void {
  const untilMs = performance.now() + frameMs / 2
  do layout.step()
  while (!layout.resting && performance.now() < untilMs)
  tell()
}
