/** A name beside a node, in CSS pixels. */
export interface Named {
  /** Position among `points`. */
  readonly index: number
  /** Of the text. */
  readonly width: number
}

type Point = readonly [number, number]

interface Box {
  readonly left: number
  readonly right: number
  readonly top: number
  readonly bottom: number
}

/** Half the height of a line of text, and the space around it. */
const halfHeight = 7
const gap = 3

/** Where the middle of a name may be, seen from its node: below first, as people expect it. */
const directions: readonly Point[] = [
  ...([
    [0, 1],
    [0, -1],
    [1, 0],
    [-1, 0],
  ] as const),
  ...([
    [1, 1],
    [-1, 1],
    [1, -1],
    [-1, -1],
  ] as const),
]

/** The middle of each name: where it covers as few edges, nodes and other names as it can. */
export function placeNames(
  names: readonly Named[],
  points: readonly Point[],
  edges: readonly { readonly from: number; readonly to: number }[],
  radius: number,
  { width: canvasWidth, height: canvasHeight }: { readonly width: number; readonly height: number },
): Point[] {
  const taken: Box[] = []
  const isOutside = ({ left, right, top, bottom }: Box) =>
    left < 0 || right > canvasWidth || top < 0 || bottom > canvasHeight
  return names.map(({ index, width }) => {
    const [x, y] = points[index] ?? [0, 0]
    let best = { cost: Infinity, middle: [x, y] as Point, box: boxAt(x, y, width) }
    directions.forEach(([right, down], order) => {
      const isAside = right !== 0
      // Corners are nearer to the node than its sides are.
      const reach = isAside && down !== 0 ? 0.75 : 1
      const middle: Point = [
        x + right * reach * (radius + gap + width / 2),
        y + down * reach * (radius + gap + halfHeight),
      ]
      const box = boxAt(...middle, width)
      const crossed = edges.filter(({ from, to }) => crosses(points[from], points[to], box)).length
      const covered = points.filter((point, other) => other !== index && isWithin(point, box, radius)).length
      const cost =
        3 * crossed +
        4 * covered +
        4 * taken.filter((other) => overlap(other, box)).length +
        (isOutside(box) ? 20 : 0) +
        order / 10
      if (cost < best.cost) best = { cost, middle, box }
    })
    taken.push(best.box)
    return best.middle
  })
}

function boxAt(x: number, y: number, width: number): Box {
  return { left: x - width / 2, right: x + width / 2, top: y - halfHeight, bottom: y + halfHeight }
}

function isWithin([x, y]: Point, { left, right, top, bottom }: Box, around: number): boolean {
  return x > left - around && x < right + around && y > top - around && y < bottom + around
}

function overlap(a: Box, b: Box): boolean {
  return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom
}

/** Whether the line between two points goes through a box: Liang and Barsky's clipping leaves something of it. */
function crosses(from: Point | undefined, to: Point | undefined, { left, right, top, bottom }: Box): boolean {
  if (from === undefined || to === undefined) return false
  const [dx, dy] = [to[0] - from[0], to[1] - from[1]]
  let [enters, leaves] = [0, 1]
  for (const [step, distance] of [
    [-dx, from[0] - left],
    [dx, right - from[0]],
    [-dy, from[1] - top],
    [dy, bottom - from[1]],
  ] as const) {
    if (step === 0) {
      if (distance < 0) return false
    } else if (step < 0) enters = Math.max(enters, distance / step)
    else leaves = Math.min(leaves, distance / step)
  }
  return enters < leaves
}
