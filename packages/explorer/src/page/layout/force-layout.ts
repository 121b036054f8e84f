import {
  forceLink,
  forceManyBody,
  forceSimulation,
  forceX,
  forceY,
  type Simulation,
  type SimulationLinkDatum,
  type SimulationNodeDatum,
} from 'd3-force'
import type { LayoutRequest } from './layout-input.ts'

interface Body extends SimulationNodeDatum {
  readonly id: string
  x: number
  y: number
}

interface Spring extends SimulationLinkDatum<Body> {
  readonly length: number
}

/** Edges of nodes that are near each other pull them together; long ones hardly pull, or all would be one tangle. */
const shortestPx = 26
const longestPx = 130
const strongest = 0.7
const weakest = 0.03

/** Steps before anybody sees a new picture: it would only fly apart. */
const unseenSteps = 80
/** How warm a picture becomes in which something has changed; a new one has 1. */
const changedAlpha = 0.35

/** Places nodes so that edges are about as long as they should be. What was placed before stays about where it was. */
export class ForceLayout {
  #bodies: Body[] = []
  #simulation: Simulation<Body, Spring> | undefined

  get resting(): boolean {
    return this.#simulation === undefined || this.#simulation.alpha() < this.#simulation.alphaMin()
  }

  /** A new overlay, or the old one with changes. */
  take({ ids, ends, lengths, tall, still }: LayoutRequest): void {
    const before = new Map(this.#bodies.map((body) => [body.id, body]))
    const kept = ids.filter((id) => before.has(id)).length
    this.#bodies = bodiesOf(ids, ends, before)
    const links = Array.from(lengths, (length, edge): Spring => {
      return { source: ends[2 * edge] ?? 0, target: ends[2 * edge + 1] ?? 0, length }
    })
    this.#simulation = forceSimulation<Body, Spring>(this.#bodies)
      .stop()
      .velocityDecay(0.35)
      .force(
        'springs',
        forceLink<Body, Spring>(links)
          .distance(({ length }) => shortestPx + length * (longestPx - shortestPx))
          .strength(({ length }) => strongest - length * (strongest - weakest)),
      )
      .force('charges', forceManyBody<Body>().strength(-90).distanceMax(600))
      .force('x', forceX<Body>().strength(tall ? 0.06 : 0.03))
      .force('y', forceY<Body>().strength(tall ? 0.03 : 0.045))
    const isNew = kept < ids.length / 2
    this.#simulation.alpha(isNew ? 1 : changedAlpha)
    if (isNew) this.step(unseenSteps)
    while (still && !this.resting) this.step()
  }

  step(steps = 1): void {
    this.#simulation?.tick(steps)
  }

  positions(): Float32Array {
    const positions = new Float32Array(2 * this.#bodies.length)
    this.#bodies.forEach(({ x, y }, index) => positions.set([x, y], 2 * index))
    return positions
  }
}

/** Known nodes keep their positions; new ones start beside their neighbours, or without any, on a spiral around the middle. */
function bodiesOf(ids: readonly string[], ends: Uint32Array, before: ReadonlyMap<string, Body>): Body[] {
  const placed = ids.map((id) => before.get(id))
  const near = ids.map(() => ({ x: 0, y: 0, count: 0 }))
  for (let end = 0; end < ends.length; end++) {
    const at = near[ends[end] ?? 0]
    const neighbour = placed[ends[end ^ 1] ?? 0]
    if (at === undefined || neighbour === undefined) continue
    at.x += neighbour.x
    at.y += neighbour.y
    at.count++
  }
  return ids.map((id, index) => {
    const body = placed[index]
    if (body !== undefined) return { id, x: body.x, y: body.y, vx: 0, vy: 0 }
    const angle = index * 2.4
    const { x, y, count } = near[index] ?? { x: 0, y: 0, count: 0 }
    const radius = count > 0 ? 12 : 14 * Math.sqrt(index + 1)
    const share = Math.max(1, count)
    return { id, x: x / share + radius * Math.cos(angle), y: y / share + radius * Math.sin(angle) }
  })
}
