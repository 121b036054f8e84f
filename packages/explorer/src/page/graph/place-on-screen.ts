/** How the plane of the layout lies on the screen: `screen = plane · k + (x, y)`, in CSS pixels. */
export interface View {
  readonly k: number
  readonly x: number
  readonly y: number
}

/** The most pixels of the screen for one unit of the plane. */
export const largestZoom = 16
/** And at least. */
export const smallestZoom = 0.05
/** Around the picture, in CSS pixels: names of nodes are wider than nodes, and controls lie above and below. */
const margin = { across: 64, down: 88 } as const

/** The view in which everything is seen, as large as it can be zoomed: a few nodes fill the canvas. */
export function fitView(positions: Float32Array, width: number, height: number): View {
  if (positions.length === 0) return { k: 1, x: width / 2, y: height / 2 }
  const box = { left: Infinity, right: -Infinity, top: Infinity, bottom: -Infinity }
  for (let at = 0; at < positions.length; at += 2) {
    const [x, y] = [positions[at] ?? 0, positions[at + 1] ?? 0]
    box.left = Math.min(box.left, x)
    box.right = Math.max(box.right, x)
    box.top = Math.min(box.top, y)
    box.bottom = Math.max(box.bottom, y)
  }
  const across = Math.max(1, width - 2 * margin.across) / Math.max(1, box.right - box.left)
  const down = Math.max(1, height - 2 * margin.down) / Math.max(1, box.bottom - box.top)
  const k = Math.min(largestZoom, Math.max(smallestZoom, Math.min(across, down)))
  return {
    k,
    x: width / 2 - (k * (box.left + box.right)) / 2,
    y: height / 2 - (k * (box.top + box.bottom)) / 2,
  }
}

/** The node at a point of the screen, or the nearest one not farther than `reach` pixels; -1 when there is none. */
export function nodeAt(positions: Float32Array, view: View, x: number, y: number, reach: number): number {
  let nearest = -1
  let nearestDistance = reach
  for (let index = 0; 2 * index < positions.length; index++) {
    const [nodeX, nodeY] = screenPosition(positions, view, index)
    const distance = Math.hypot(nodeX - x, nodeY - y)
    if (distance > nearestDistance) continue
    nearest = index
    nearestDistance = distance
  }
  return nearest
}

export function screenPosition(
  positions: Float32Array,
  { k, x, y }: View,
  index: number,
): readonly [number, number] {
  return [(positions[2 * index] ?? 0) * k + x, (positions[2 * index + 1] ?? 0) * k + y]
}

export type Direction = 'left' | 'right' | 'up' | 'down'

const unit = { left: [-1, 0], right: [1, 0], up: [0, -1], down: [0, 1] } as const

/** The next node in a direction, for arrow keys: near, and not far from straight ahead; -1 when there is none. */
export function nodeTowards(positions: Float32Array, from: number, direction: Direction): number {
  const [towardsX, towardsY] = unit[direction]
  let best = -1
  let bestCost = Infinity
  for (let index = 0; 2 * index < positions.length; index++) {
    const dx = (positions[2 * index] ?? 0) - (positions[2 * from] ?? 0)
    const dy = (positions[2 * index + 1] ?? 0) - (positions[2 * from + 1] ?? 0)
    const ahead = dx * towardsX + dy * towardsY
    const aside = Math.abs(dx * towardsY) + Math.abs(dy * towardsX)
    const cost = ahead + 2 * aside
    if (index === from || ahead <= 0 || aside > 2 * ahead || cost >= bestCost) continue
    best = index
    bestCost = cost
  }
  return best
}
