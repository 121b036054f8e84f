import type { ComponentChildren } from 'preact'

export interface Column<Row> {
  readonly title: string
  readonly cell: (row: Row) => ComponentChildren
  /** Numbers stand at the right. */
  readonly isNumber?: boolean
  /** Left out on a narrow screen. */
  readonly isMinor?: boolean
}

export interface TableProps<Row> {
  readonly caption: string
  readonly columns: readonly Column<Row>[]
  readonly rows: readonly Row[]
  readonly rowKey: (row: Row) => string
  /** What stands there instead of no rows. */
  readonly empty: string
}

/** The first cell of each row is its heading. */
export function Table<Row>({ caption, columns, rows, rowKey, empty }: TableProps<Row>) {
  if (rows.length === 0) return <p class="empty">{empty}</p>
  const classOf = ({ isNumber, isMinor }: Column<Row>) =>
    [isNumber && 'number', isMinor && 'minor'].filter(Boolean).join(' ')
  const [first, ...others] = columns
  if (first === undefined) return null
  return (
    <div class="table-frame" role="region" aria-label={caption} tabIndex={0}>
      <table>
        <caption class="visually-hidden">{caption}</caption>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column.title} scope="col" class={classOf(column)}>
                {column.title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={rowKey(row)}>
              <th scope="row">{first.cell(row)}</th>
              {others.map((column) => (
                <td key={column.title} class={classOf(column)}>
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
