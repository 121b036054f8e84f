import { Resvg } from '@resvg/resvg-js'
import { parse, View } from 'vega'
import { compile, type TopLevelSpec } from 'vega-lite'
import { writeInto } from '../records/write-into.ts'

/** A figure as Vega-Lite describes it; the data are inside. */
export interface Figure {
  /** Name of the files, without what follows the dot. */
  readonly name: string
  readonly spec: TopLevelSpec
}

/** Pixels of the PNG for one of the SVG. */
const zoom = 2

/** Writes `name.svg` and `name.png` of each into a folder, which is made where it is missing. Gives the paths. Rejects with OUT_UNWRITABLE. */
export async function writeFigures(folder: string, figures: readonly Figure[]): Promise<string[]> {
  const paths: string[] = []
  for (const { name, spec } of figures) {
    const svg = await new View(parse(compile(spec).spec), { renderer: 'none' }).toSVG()
    const png = new Resvg(svg, { fitTo: { mode: 'zoom', value: zoom }, background: 'white' }).render().asPng()
    paths.push(writeInto(folder, `${name}.svg`, svg), writeInto(folder, `${name}.png`, png))
  }
  return paths
}
