export type Cell = string | number | undefined

/** A field of a record as a cell; what is no scalar is missing. */
export function cellOf(value: unknown): Cell {
  if (typeof value === 'boolean') return String(value)
  return typeof value === 'number' || typeof value === 'string' ? value : undefined
}

/** Columns with a head, right-aligned, two blanks apart; what is missing is a dash. */
export function textTable(head: readonly string[], rows: readonly (readonly Cell[])[]): string {
  const cells = [head, ...rows.map((row) => row.map((cell) => String(cell ?? '–')))]
  const widths = head.map((_, column) => Math.max(...cells.map((row) => (row[column] ?? '').length)))
  const line = (row: readonly string[]): string =>
    row.map((cell, column) => cell.padStart(widths[column] ?? 0)).join('  ')
  return cells.map(line).join('\n')
}
