/** A line of a plot. Points without a value are left out. */
interface PlotLine {
  readonly name: string
  readonly points: readonly (readonly [x: number, y: number])[]
}

export interface Plot {
  readonly title: string
  readonly xName: string
  readonly yName: string
  readonly lines: readonly PlotLine[]
  /** Where the x axis has marks, and what stands there; default: some at round values. */
  readonly xMarks?: readonly (readonly [x: number, text: string])[]
}

const [width, height] = [720, 260]
const margin = { left: 64, right: 16, top: 32, bottom: 40 }

/** A plot as an SVG element, for a page that defines `.line0` and on, `.axis` and `.grid`. */
export function svgOf({ title, xName, yName, lines, xMarks }: Plot): string {
  const all = lines.flatMap(({ points }) => points)
  const xs = all.map(([x]) => x)
  const [left, right] = [Math.min(...xs, 0), Math.max(...xs, Number.MIN_VALUE)]
  const top = niceAbove(Math.max(...all.map(([, y]) => y), Number.MIN_VALUE))
  const xOf = (x: number) =>
    margin.left + ((x - left) / (right - left || 1)) * (width - margin.left - margin.right)
  const yOf = (y: number) => height - margin.bottom - (y / top) * (height - margin.top - margin.bottom)
  const marks = xMarks ?? roundMarks(right)
  const grid = [0, 0.25, 0.5, 0.75, 1].map((share) => gridLine(yOf(share * top), share * top))
  return `<svg viewBox="0 0 ${width} ${height}" role="img"><title>${escapeHtml(title)}</title>
<text x="${margin.left}" y="18" class="title">${escapeHtml(title)}</text>
${grid.join('\n')}
${marks.map(([x, text]) => `<text x="${px(xOf(x))}" y="${height - margin.bottom + 16}" text-anchor="middle" class="axis">${escapeHtml(text)}</text>`).join('\n')}
<text x="${width - margin.right}" y="${height - 4}" text-anchor="end" class="axis">${escapeHtml(xName)}</text>
<text x="4" y="18" class="axis">${escapeHtml(yName)}</text>
${lines.map(({ points }, index) => polyline(points, index, xOf, yOf)).join('\n')}
${lines.map(({ name }, index) => legend(name, index, lines.length)).join('\n')}
</svg>`
}

function polyline(
  points: PlotLine['points'],
  index: number,
  xOf: (x: number) => number,
  yOf: (y: number) => number,
): string {
  const places = points.map(([x, y]) => `${px(xOf(x))},${px(yOf(y))}`)
  return `<polyline class="line${index}" points="${places.join(' ')}"/>`
}

function gridLine(y: number, value: number): string {
  const line = `<line x1="${margin.left}" x2="${width - margin.right}" y1="${px(y)}" y2="${px(y)}" class="grid"/>`
  return `${line}<text x="${margin.left - 6}" y="${px(y + 4)}" text-anchor="end" class="axis">${rounded(value)}</text>`
}

function legend(name: string, index: number, count: number): string {
  const x = width - margin.right - (count - index) * 90
  return `<g><line x1="${x}" x2="${x + 18}" y1="14" y2="14" class="line${index}"/><text x="${x + 24}" y="18" class="axis">${escapeHtml(name)}</text></g>`
}

/** From 0 on, at most seven. */
function roundMarks(right: number): readonly (readonly [x: number, text: string])[] {
  const step = niceAbove(right / 6)
  return Array.from(
    { length: Math.floor(right / step) + 1 },
    (_, i) => [i * step, rounded(i * step)] as const,
  )
}

const px = (value: number): string => value.toFixed(1)
const rounded = (value: number): string => `${Number(value.toPrecision(3))}`

/** The next of 1, 2, 5, 10, … that is not below. */
function niceAbove(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value))
  return ([1, 2, 5, 10].find((step) => step * power >= value) ?? 10) * power
}

export function escapeHtml(text: string): string {
  const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
  return text.replace(/[&<>"]/g, (character) => entities[character] ?? '')
}
