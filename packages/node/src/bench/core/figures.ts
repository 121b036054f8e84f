/** Three significant digits, or whole where larger. */
export function short(value: number): string {
  return Math.abs(value) >= 1000 ? `${Math.round(value)}` : `${Number(value.toPrecision(3))}`
}

export function percent(value: number): string {
  return `${short(value)} %`
}

/** `1 overlay`, `2 overlays`. */
export function counted(count: number, name: string): string {
  return `${count} ${name}${count === 1 ? '' : 's'}`
}
