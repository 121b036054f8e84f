import { palettes } from '../colours.ts'
import { shortId } from '../format.ts'
import { placeNames } from './place-names.ts'
import { screenPosition, type View } from './place-on-screen.ts'
import { groupEdges, neighboursIn, type Scene } from './scene.ts'

/** Up to so many nodes all have their names beside them. */
const namedNodes = 40
/** Up to so many names are placed beside edges, in every frame. */
const placedNames = 60
/** Up to so many edges random ones are dashed; of more, dashes only blur. */
const dashedEdges = 1_500

/** What is the same in every frame of one scene. */
export class Drawing {
  readonly #scene: Scene
  readonly #groups: ReturnType<typeof groupEdges>
  readonly #selectedGroups: ReturnType<typeof groupEdges>
  /** Positions of the selected node's neighbours. */
  readonly #around: ReadonlySet<number>
  readonly #selected: number

  constructor(scene: Scene) {
    const { shape, selected } = scene
    this.#scene = scene
    this.#selected = selected === undefined ? -1 : (shape.indexOf.get(selected) ?? -1)
    this.#around = neighboursIn(shape)[this.#selected] ?? new Set()
    const isSelected = (end: { from: number; to: number }) =>
      end.from === this.#selected || end.to === this.#selected
    this.#groups = groupEdges(shape.edges, scene)
    this.#selectedGroups = this.#selected < 0 ? [] : groupEdges(shape.edges.filter(isSelected), scene)
  }

  draw(context: CanvasRenderingContext2D, positions: Float32Array, view: View): void {
    const hasSelection = this.#selected >= 0
    context.globalAlpha = hasSelection ? 0.14 : 0.85
    this.#drawEdges(context, this.#groups, positions, view, 1)
    context.globalAlpha = 1
    this.#drawEdges(context, this.#selectedGroups, positions, view, 1.6)
    this.#drawNodes(context, positions, view)
    this.#drawNames(context, positions, view)
  }

  #drawEdges(
    context: CanvasRenderingContext2D,
    groups: ReturnType<typeof groupEdges>,
    positions: Float32Array,
    view: View,
    widening: number,
  ): void {
    const { edges } = this.#scene.shape
    const thickness = Math.min(1.6, Math.max(0.6, view.k)) * (edges.length > 400 ? 0.8 : 1)
    for (const group of groups) {
      context.beginPath()
      for (const { from, to } of group.edges) {
        const [fromX, fromY] = screenPosition(positions, view, from)
        const [toX, toY] = screenPosition(positions, view, to)
        context.moveTo(fromX, fromY)
        context.lineTo(toX, toY)
      }
      context.strokeStyle = group.colour
      context.lineWidth = (group.near ? 2.4 : 1.2) * thickness * widening
      context.setLineDash(group.near || edges.length > dashedEdges ? [] : [5, 3])
      context.stroke()
    }
    context.setLineDash([])
  }

  #drawNodes(context: CanvasRenderingContext2D, positions: Float32Array, view: View): void {
    const { shape, theme, storage, self } = this.#scene
    const palette = palettes[theme]
    const radius = nodeRadius(shape.ids.length, view)
    const hasSelection = this.#selected >= 0
    context.lineWidth = 1.5
    context.strokeStyle = palette.halo
    shape.ids.forEach((id, index) => {
      const [x, y] = screenPosition(positions, view, index)
      const isSpecial = id === self || index === this.#selected
      context.globalAlpha = !hasSelection || isSpecial || this.#around.has(index) ? 1 : 0.25
      context.fillStyle = id === self ? palette.self : storage.has(id) ? palette.storage : palette.node
      context.beginPath()
      if (storage.has(id)) context.roundRect(x - radius, y - radius, 2 * radius, 2 * radius, radius / 3)
      else context.arc(x, y, isSpecial ? radius * 1.35 : radius, 0, 2 * Math.PI)
      context.fill()
      context.stroke()
    })
    context.globalAlpha = 1
    if (!hasSelection) return
    const [x, y] = screenPosition(positions, view, this.#selected)
    context.beginPath()
    context.arc(x, y, radius * 1.35 + 4, 0, 2 * Math.PI)
    context.strokeStyle = palette.ink
    context.lineWidth = 2
    context.stroke()
  }

  #drawNames(context: CanvasRenderingContext2D, positions: Float32Array, view: View): void {
    const { shape, theme, self } = this.#scene
    const { ink, halo } = palettes[theme]
    const hasSelection = this.#selected >= 0
    context.font = '12px "Inter Variable", system-ui, sans-serif'
    context.textAlign = 'center'
    context.textBaseline = 'middle'
    context.lineWidth = 4
    context.lineJoin = 'round'
    const isNamed = (id: string, index: number) =>
      hasSelection
        ? index === this.#selected || this.#around.has(index)
        : shape.ids.length <= namedNodes || view.k > 3 || id === self
    const names = shape.ids.flatMap((id, index) => {
      if (!isNamed(id, index)) return []
      const text = id === self ? 'this page' : shortId(id)
      return [{ index, text, width: context.measureText(text).width }]
    })
    const radius = nodeRadius(shape.ids.length, view)
    const points = shape.ids.map((_, index) => screenPosition(positions, view, index))
    // Of many nodes, names lie over edges wherever they are: below, they are at least where one looks for them.
    const isCrowded = names.length > placedNames || shape.edges.length > dashedEdges
    const middles = isCrowded
      ? names.map(({ index }) => below(points[index], radius))
      : placeNames(names, points, shape.edges, radius, sizeOf(context))
    names.forEach(({ text }, place) => {
      const [x, y] = middles[place] ?? [0, 0]
      context.strokeStyle = halo
      context.strokeText(text, x, y)
      context.fillStyle = ink
      context.fillText(text, x, y)
    })
  }
}

function sizeOf({ canvas }: CanvasRenderingContext2D) {
  return { width: canvas.clientWidth, height: canvas.clientHeight }
}

function below([x, y]: readonly [number, number] = [0, 0], radius: number): readonly [number, number] {
  return [x, y + radius + 12]
}

/** Smaller where there are many. */
export function nodeRadius(nodes: number, { k }: View): number {
  const usual = nodes <= 12 ? 9 : nodes <= 60 ? 7 : nodes <= 250 ? 5.5 : nodes <= 1_000 ? 4.5 : 3
  return usual * Math.min(1.6, Math.max(0.55, Math.sqrt(k)))
}
