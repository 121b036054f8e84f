import { select } from 'd3-selection'
import { zoom, zoomIdentity, type D3ZoomEvent } from 'd3-zoom'
import { carryPositions } from './carry-positions.ts'
import { Drawing, nodeRadius } from './draw.ts'
import {
  fitView,
  largestZoom,
  nodeAt,
  nodeTowards,
  smallestZoom,
  type Direction,
  type View,
} from './place-on-screen.ts'
import type { Scene } from './scene.ts'

/** Beside a node's circle, where a finger or a mouse still means it, in CSS pixels. */
const reachPx = 10
/** No eye sees sharper than this. */
const maxPixelRatio = 2

/** Draws an overlay on a canvas, when something has changed and at most once a frame; zooms, drags, and finds nodes. */
export class GraphView {
  readonly #canvas: HTMLCanvasElement
  readonly #context: CanvasRenderingContext2D
  readonly #zoom = zoom<HTMLCanvasElement, unknown>().scaleExtent([smallestZoom, largestZoom])
  readonly #observer: ResizeObserver
  #scene: Scene | undefined
  #drawing: Drawing | undefined
  #positions: Float32Array = new Float32Array()
  #view: View = { k: 1, x: 0, y: 0 }
  /** The picture is kept in the middle until somebody moves it. */
  #isFitted = true
  #frame = 0

  /** `onPick` is told of clicks; undefined is none of the nodes. */
  constructor(
    canvas: HTMLCanvasElement,
    context: CanvasRenderingContext2D,
    onPick: (id: string | undefined) => void,
  ) {
    this.#canvas = canvas
    this.#context = context
    this.#observer = new ResizeObserver(() => this.#resize())
    this.#observer.observe(canvas)
    this.#zoom.on('zoom', ({ transform, sourceEvent }: D3ZoomEvent<HTMLCanvasElement, unknown>) => {
      if (sourceEvent !== null) this.#isFitted = false
      this.#view = { k: transform.k, x: transform.x, y: transform.y }
      this.#redraw()
    })
    select(canvas)
      .call(this.#zoom)
      .on('dblclick.zoom', null)
      .on('click', (event: MouseEvent) => onPick(this.nodeAt(event.offsetX, event.offsetY)))
  }

  show(scene: Scene): void {
    // Positions belong to one shape: until those of a shape with new nodes arrive, there is nothing to draw.
    if (this.#scene !== undefined)
      this.#positions = carryPositions(this.#scene.shape, scene.shape, this.#positions)
    this.#scene = scene
    this.#drawing = new Drawing(scene)
    this.#redraw()
  }

  move(positions: Float32Array): void {
    this.#positions = positions
    if (this.#isFitted) this.fit()
    else this.#redraw()
  }

  fit(): void {
    const { clientWidth, clientHeight } = this.#canvas
    const { k, x, y } = fitView(this.#positions, clientWidth, clientHeight)
    select(this.#canvas).call(this.#zoom.transform, zoomIdentity.translate(x, y).scale(k))
    this.#isFitted = true
  }

  zoomBy(factor: number): void {
    select(this.#canvas).call(this.#zoom.scaleBy, factor)
    this.#isFitted = false
  }

  nodeAt(x: number, y: number): string | undefined {
    const ids = this.#scene?.shape.ids ?? []
    const reach = nodeRadius(ids.length, this.#view) + reachPx
    return ids[nodeAt(this.#positions, this.#view, x, y, reach)]
  }

  /** The next node for an arrow key; the first one when none is selected. */
  towards(direction: Direction): string | undefined {
    const { shape, selected } = this.#scene ?? {}
    const from = selected === undefined ? undefined : shape?.indexOf.get(selected)
    if (from === undefined) return shape?.ids[0]
    return shape?.ids[nodeTowards(this.#positions, from, direction)] ?? selected
  }

  stop(): void {
    cancelAnimationFrame(this.#frame)
    this.#observer.disconnect()
    select(this.#canvas).on('.zoom', null).on('click', null)
  }

  #resize(): void {
    const { clientWidth, clientHeight } = this.#canvas
    const ratio = Math.min(maxPixelRatio, devicePixelRatio)
    this.#canvas.width = Math.round(clientWidth * ratio)
    this.#canvas.height = Math.round(clientHeight * ratio)
    if (this.#isFitted) this.fit()
    this.#draw()
  }

  #redraw(): void {
    if (this.#frame === 0) this.#frame = requestAnimationFrame(() => this.#draw())
  }

  #draw(): void {
    cancelAnimationFrame(this.#frame)
    this.#frame = 0
    const { width, height, clientWidth } = this.#canvas
    const ratio = width / Math.max(1, clientWidth)
    this.#context.setTransform(ratio, 0, 0, ratio, 0, 0)
    this.#context.clearRect(0, 0, width, height)
    if (this.#positions.length > 0) this.#drawing?.draw(this.#context, this.#positions, this.#view)
  }
}
