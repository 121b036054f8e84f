/// <reference lib="dom" />
/** A time as blocks of light and dark, which survive being encoded: 48 bits in rows of 12, and a row that tells what is light. */
const [columns, rows] = [12, 5] as const
const bits = columns * (rows - 1)

export function paintTime(context: CanvasRenderingContext2D, timeMs: number): void {
  const { width, height } = context.canvas
  const [w, h] = [width / columns, height / rows]
  for (let i = 0; i < columns * rows; i++) {
    const isLight = i < columns ? i % 2 === 0 : Math.floor(timeMs / 2 ** (bits - 1 - (i - columns))) % 2 === 1
    context.fillStyle = isLight ? '#fff' : '#000'
    context.fillRect((i % columns) * w, Math.floor(i / columns) * h, w, h)
  }
}

/** Undefined where no time is painted. */
export function readTime(canvas: HTMLCanvasElement): number | undefined {
  const context = canvas.getContext('2d')
  const { width, height } = canvas
  if (context === null || width < columns || height < rows) return undefined
  const { data } = context.getImageData(0, 0, width, height)
  const lights = Array.from({ length: columns * rows }, (_, i) => {
    const x = Math.floor(((i % columns) + 0.5) * (width / columns))
    const y = Math.floor((Math.floor(i / columns) + 0.5) * (height / rows))
    return (data[4 * (y * width + x)] ?? 0) > 127
  })
  const isPainted = lights.slice(0, columns).every((isLight, i) => isLight === (i % 2 === 0))
  return isPainted
    ? lights.slice(columns).reduce((time, isLight) => 2 * time + Number(isLight), 0)
    : undefined
}
