import { Resvg } from '@resvg/resvg-js'
import { parse, View } from 'vega'
import { compile, type Config, type TopLevelSpec } from 'vega-lite'
import { writeInto } from '../records/write-into.ts'

/** A figure as Vega-Lite describes it; the data are inside. */
export interface Figure {
  /** Name of the files, without what follows the dot. */
  readonly name: string
  readonly spec: TopLevelSpec
}

/** Pixels of the PNG for one of the SVG. */
const zoom = 2

/** White below all, as pages may be dark. Colours that people who see fewer of them tell apart (Okabe and Ito, 2008). */
const look = {
  background: 'white',
  padding: 12,
  font: 'Helvetica, Arial, DejaVu Sans, sans-serif',
  title: { anchor: 'start', fontSize: 14, offset: 12 },
  view: { stroke: null },
  axis: {
    gridColor: '#e6e6e6',
    domainColor: '#888',
    tickColor: '#888',
    labelFontSize: 11,
    titleFontWeight: 'normal',
  },
  legend: { labelFontSize: 11, labelLimit: 260 },
  range: {
    category: ['#0072b2', '#e69f00', '#009e73', '#cc79a7', '#56b4e9', '#d55e00', '#000000', '#999999'],
  },
} as const satisfies Config

/**
 * Writes `name.svg` and `name.png` of each, or only one of both, into a folder, which is made where it is missing. Gives the paths. Rejects
 * with OUT_UNWRITABLE.
 */
export async function writeFigures(
  folder: string,
  figures: readonly Figure[],
  kinds: readonly ('svg' | 'png')[] = ['svg', 'png'],
): Promise<string[]> {
  const paths: string[] = []
  for (const { name, spec } of figures) {
    const svg = await new View(parse(compile(spec, { config: look }).spec), { renderer: 'none' }).toSVG()
    for (const kind of kinds)
      paths.push(writeInto(folder, `${name}.${kind}`, kind === 'svg' ? svg : pngOf(svg)))
  }
  return paths
}

const pngOf = (svg: string): Uint8Array =>
  new Resvg(svg, { fitTo: { mode: 'zoom', value: zoom }, font: { defaultFontFamily: 'DejaVu Sans' } })
    .render()
    .asPng()
