const bars = '▁▂▃▄▅▆▇█'

/** Values as bars of one line, the last `width` of them; what is missing is a space. The lowest bar is 0, the highest the largest value. */
export function barsOf(values: readonly (number | undefined)[], width: number): string {
  const shown = values.slice(-width)
  const most = Math.max(...shown.map((value) => value ?? 0), Number.MIN_VALUE)
  return shown.map((value) => (value === undefined ? ' ' : barOf(value / most))).join('')
}

function barOf(share: number): string {
  return bars[Math.min(bars.length - 1, Math.max(0, Math.ceil(share * bars.length) - 1))] ?? ''
}
