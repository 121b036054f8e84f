import { useEffect, useMemo, useState } from 'preact/hooks'
import type { Place } from '../api/answers.ts'
import type { Overlay, TrackerState } from '../api/trackers.ts'
import { palettes, rttColours, rttScale, rttStep, type RttScale, type Theme } from '../colours.ts'
import { formatCount, formatMs, plural, shownHost, shownText } from '../format.ts'
import { Legend } from '../graph/legend.tsx'
import type { Coloring } from '../graph/scene.ts'
import { Table, type Column } from '../parts/table.tsx'
import { colourOfTransport, countTransports } from '../transports.ts'
import { freeLabels } from './labels.ts'
import { loadLand, mapSize, pointOnMap, wayOnMap } from './land.ts'
import { meanRtt, sitesOf, type Site, type Way } from './sites.ts'

const columns: Column<Site>[] = [
  { title: 'Place', cell: ({ place }) => shownText(place.name) },
  { title: 'Nodes', isNumber: true, cell: ({ nodes }) => formatCount(nodes.length) },
  { title: 'Edges within', isNumber: true, cell: ({ inner }) => formatCount(inner.length) },
  { title: 'Mean RTT within', isNumber: true, isMinor: true, cell: ({ inner }) => formatMs(meanRtt(inner)) },
]

export interface WorldMapProps {
  readonly overlay: Overlay
  readonly theme: Theme
  readonly coloring: Coloring
  readonly trackers: readonly TrackerState[] | undefined
}

/** Where the nodes of an overlay and the trackers are, as far as the tracker knows. */
export function WorldMap({ overlay, theme, coloring, trackers = [] }: WorldMapProps) {
  const [land, setLand] = useState('')
  useEffect(() => {
    // The tracker may be gone by now; a map without outlines shows the nodes all the same.
    loadLand().then(setLand, () => {})
  }, [])
  const { nodes, edges, places } = overlay
  const { sites, ways } = useMemo(() => sitesOf(nodes, edges, places), [overlay])
  const placed = trackers.flatMap((tracker) => (tracker.place ? [{ ...tracker, place: tracker.place }] : []))
  // Edges within a place are not drawn: the scale is that of what is.
  const scale = rttScale(ways.flatMap(({ meanRttMs }) => meanRttMs ?? []))
  const located = sites.reduce((sum, site) => sum + site.nodes.length, 0)
  return (
    <div class="world">
      <svg
        viewBox={`0 0 ${mapSize.width} ${mapSize.height}`}
        role="img"
        aria-label={`Map: ${plural(located, 'node')} at ${plural(sites.length, 'place')}${placed.length === 0 ? '' : `, ${plural(placed.length, 'tracker')}`}`}
      >
        <path class="land" d={land} fill={palettes[theme].land} />
        <g fill="none" stroke-linecap="round">
          {ways.map((way) => (
            <path
              key={way.key}
              d={wayOnMap(way.from.place, way.to.place)}
              stroke={wayColour(way, theme, coloring, scale)}
              stroke-width={Math.min(3, 0.7 + way.edges.length / 6)}
              stroke-opacity="0.65"
            />
          ))}
        </g>
        {sites.map((site) => (
          <circle
            key={site.key}
            {...circleOf(site)}
            fill={palettes[theme].node}
            stroke={palettes[theme].halo}
          />
        ))}
        {placed.map(({ nodeId, place, base }) => (
          <path
            key={nodeId}
            class="tracker"
            d={diamondAt(place)}
            fill={palettes[theme].tracker}
            stroke={palettes[theme].halo}
          >
            <title>{`Tracker ${shownHost(base)}, ${shownText(place.name)}`}</title>
          </path>
        ))}
        {freeLabels(sites.map((site) => ({ ...circleOf(site), name: shownText(site.place.name) }))).map(
          ({ name, x, y }) => (
            <text key={name} x={x} y={y} stroke={palettes[theme].halo} fill={palettes[theme].ink}>
              {name}
            </text>
          ),
        )}
      </svg>
      <Legend
        {...{ coloring, theme, scale }}
        edges={ways.flatMap((way) => way.edges)}
        hasNear={false}
        hasStorage={false}
        hasTrackers={placed.length > 0}
        self={undefined}
      />
      {located < nodes.length && (
        <p class="empty">{plural(nodes.length - located, 'node')} at unknown places.</p>
      )}
      <Table caption="Places" columns={columns} rows={sites} rowKey={({ key }) => key} empty="No places." />
    </div>
  )
}

/** Above the circle of the nodes that are at the same place. */
function diamondAt(place: Place): string {
  const [x, y] = pointOnMap(place)
  return `M${x.toFixed(1)} ${(y - 22).toFixed(1)}l7 7-7 7-7-7Z`
}

/** As large as there are nodes. */
function circleOf({ place, nodes }: Site) {
  const [cx, cy] = pointOnMap(place)
  return { cx, cy, r: Math.min(14, 2.5 + Math.sqrt(nodes.length)) }
}

function wayColour({ edges, meanRttMs }: Way, theme: Theme, coloring: Coloring, scale: RttScale): string {
  const palette = palettes[theme]
  if (coloring === 'rtt')
    return meanRttMs === null
      ? palette.unmeasured
      : (rttColours(palette)[rttStep(meanRttMs, scale)] ?? palette.unmeasured)
  const [most] = countTransports(edges)
  return most === undefined ? palette.unmeasured : colourOfTransport(most.edges[0], palette)
}
