/** A circle on the map and what stands below it. */
export interface Labelled {
  readonly cx: number
  readonly cy: number
  readonly r: number
  readonly name: string
}

export interface Label {
  readonly name: string
  /** The middle of the line. */
  readonly x: number
  readonly y: number
}

const lineHeight = 13
const charWidth = 6.2
/** At most this many labels; each is compared with all earlier ones. */
const maxLabels = 40

/** The names there is room for, the first ones first. */
export function freeLabels(circles: readonly Labelled[]): Label[] {
  const labels: Label[] = []
  for (const { cx, cy, r, name } of circles) {
    const label = { name, x: cx, y: cy + r + 11 }
    if (labels.length < maxLabels && !labels.some((other) => overlap(label, other))) labels.push(label)
  }
  return labels
}

function overlap(a: Label, b: Label): boolean {
  const wide = (charWidth * (a.name.length + b.name.length)) / 2
  return Math.abs(a.x - b.x) < wide && Math.abs(a.y - b.y) < lineHeight
}
