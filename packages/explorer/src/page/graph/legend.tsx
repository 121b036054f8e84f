import { palettes, rttColours, type RttScale, type Theme } from '../colours.ts'
import { formatMs } from '../format.ts'
import { colourOfTransport, countTransports, type EdgeTransport } from '../transports.ts'
import type { Coloring } from './scene.ts'

export interface LegendProps {
  /** Near and random edges are drawn differently. */
  readonly hasNear: boolean
  readonly coloring: Coloring
  readonly theme: Theme
  readonly scale: RttScale
  /** The edges that are drawn. */
  readonly edges: readonly EdgeTransport[]
  readonly hasStorage: boolean
  readonly hasTrackers?: boolean
  readonly self: string | undefined
}

/** What colours and lines mean. */
export function Legend({
  hasNear,
  coloring,
  theme,
  scale,
  edges,
  hasStorage,
  hasTrackers = false,
  self,
}: LegendProps) {
  const palette = palettes[theme]
  return (
    <div class="legend" aria-label="Legend" role="group">
      {coloring === 'rtt' ? (
        <div class="ramp">
          <span>{formatMs(scale.shortMs)}</span>
          <svg viewBox="0 0 80 8" width="80" height="8" aria-hidden="true">
            {rttColours(palette).map((colour, step) => (
              <rect key={step} x={step * 10} y="0" width="10" height="8" fill={colour} />
            ))}
          </svg>
          <span>{formatMs(scale.longMs)}</span>
        </div>
      ) : (
        countTransports(edges).map(({ name, edges: [first] }) => (
          <Line key={name} colour={colourOfTransport(first, palette)} label={name} />
        ))
      )}
      {hasNear && <Line colour="currentColor" label="near" wide />}
      {hasNear && <Line colour="currentColor" label="random" dashed />}
      {hasStorage && <Dot colour={palette.storage} label="storage node" shape="square" />}
      {hasTrackers && <Dot colour={palette.tracker} label="tracker" shape="diamond" />}
      {self !== undefined && <Dot colour={palette.self} label="this page" />}
    </div>
  )
}

function Line({
  colour,
  label,
  wide = false,
  dashed = false,
}: {
  colour: string
  label: string
  wide?: boolean
  dashed?: boolean
}) {
  return (
    <span class="key">
      <svg viewBox="0 0 20 8" width="20" height="8" aria-hidden="true">
        <path
          d="M0 4h20"
          stroke={colour}
          stroke-width={wide ? 3 : 1.6}
          stroke-dasharray={dashed ? '4 3' : 'none'}
        />
      </svg>
      {label}
    </span>
  )
}

function Dot({
  colour,
  label,
  shape = 'circle',
}: {
  colour: string
  label: string
  shape?: 'circle' | 'square' | 'diamond'
}) {
  return (
    <span class="key">
      <svg viewBox="0 0 10 10" width="10" height="10" aria-hidden="true">
        {shape === 'square' && <rect width="10" height="10" rx="2" fill={colour} />}
        {shape === 'circle' && <circle cx="5" cy="5" r="5" fill={colour} />}
        {shape === 'diamond' && <path d="M5 0 10 5 5 10 0 5Z" fill={colour} />}
      </svg>
      {label}
    </span>
  )
}
