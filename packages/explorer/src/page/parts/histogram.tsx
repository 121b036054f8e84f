import { formatMs } from '../format.ts'
import { histogram } from '../figures.ts'

const bars = 16
const height = 44

/** How times are spread, as bars. `colourOf` gives the colour of a time. */
export function Histogram({
  timesMs,
  label,
  colourOf,
}: {
  readonly timesMs: readonly number[]
  readonly label: string
  readonly colourOf: (ms: number) => string
}) {
  const ranges = histogram(timesMs, bars)
  const [first, last] = [ranges[0], ranges.at(-1)]
  if (first === undefined || last === undefined) return null
  const most = ranges.reduce((max, { count }) => Math.max(max, count), 1)
  return (
    <figure class="histogram">
      <svg viewBox={`0 0 ${bars * 10} ${height}`} preserveAspectRatio="none" role="img" aria-label={label}>
        {ranges.map(({ fromMs, toMs, count }, bar) => {
          const tall = (count / most) * (height - 1)
          return (
            <rect
              key={bar}
              x={bar * 10 + 0.5}
              y={height - tall}
              width="9"
              height={tall}
              fill={colourOf(Math.sqrt(fromMs * toMs))}
            />
          )
        })}
      </svg>
      <figcaption>
        <span>{formatMs(first.fromMs)}</span>
        <span>{formatMs(last.toMs)}</span>
      </figcaption>
    </figure>
  )
}
