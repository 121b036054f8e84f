import { findParts, type LedPart, type TrackerState } from '../api/trackers.ts'
import { formatCount, plural, shownHost } from '../format.ts'
import { PartLink } from '../parts/ids.tsx'
import { Notice } from '../parts/notice.tsx'
import { Stat } from '../parts/stat.tsx'
import { Table, type Column } from '../parts/table.tsx'
import { usePolled } from '../use-polled.ts'
import { figure, shownOf } from './list-words.ts'

const streamsEveryMs = 4_000
/** Rows drawn; the search finds the others. */
const maxRows = 500

export interface StreamsViewProps {
  readonly bases: readonly string[] | undefined
  readonly trackers: readonly TrackerState[] | undefined
  readonly search: string
}

/** All stream parts of the network, or the results of a search. */
export function StreamsView({ bases, trackers, search }: StreamsViewProps) {
  const key = bases && `${bases.join()} ${search}`
  const { value, failure, readAtMs } = usePolled(key, streamsEveryMs, (signal) =>
    findParts(bases ?? [], search, signal),
  )
  const rows = value?.items.slice(0, maxRows) ?? []
  const shown = value && shownOf(rows.length, value, { isSearch: search !== '', isSorted: true })
  const columns: Column<LedPart>[] = [
    { title: 'Stream', cell: ({ streamPartId }) => <PartLink partId={streamPartId} /> },
    { title: 'Nodes', isNumber: true, cell: ({ nodeCount }) => formatCount(nodeCount) },
    { title: 'Edges', isNumber: true, isMinor: true, cell: ({ edgeCount }) => formatCount(edgeCount) },
    {
      title: 'Overlay',
      isMinor: true,
      cell: ({ overlay }) => overlay,
    },
    {
      title: 'Stored by',
      isNumber: true,
      isMinor: true,
      cell: ({ storageNodeCount }) => storageNodeCount || '–',
    },
    { title: 'Tracker', isMinor: true, cell: ({ base }) => <span class="host">{shownHost(base)}</span> },
  ]
  return (
    <section class="page">
      <h1>{search === '' ? 'Streams' : <>Streams with “{search}”</>}</h1>
      {search === '' && value !== undefined && (
        <dl class="stats">
          <Stat label="Stream parts">{formatCount(value.total)}</Stat>
          <Stat label="Streams">{figure(formatCount(streamCount(value.items)), value)}</Stat>
          <Stat label="Largest overlay">{figure(plural(value.items[0]?.nodeCount ?? 0, 'node'), value)}</Stat>
          <Stat label="Trackers">{trackersWell(trackers)}</Stat>
        </dl>
      )}
      <Notice
        failure={failure ?? value?.failures[0]}
        readAtMs={failure === undefined ? undefined : readAtMs}
      />
      {value === undefined ? (
        failure === undefined && <p class="empty">Asking the trackers…</p>
      ) : (
        <Table
          caption="Stream parts"
          columns={columns}
          rows={rows}
          rowKey={({ streamPartId }) => streamPartId}
          empty={
            search === '' ? 'No node is in any stream at the moment.' : 'No active stream has this in its id.'
          }
        />
      )}
      {shown !== undefined && <p class="empty">{shown} Use the search to find others.</p>}
    </section>
  )
}

function streamCount(parts: readonly LedPart[]): number {
  return new Set(parts.map(({ streamPartId }) => streamPartId.slice(0, streamPartId.lastIndexOf('#')))).size
}

function trackersWell(trackers: readonly TrackerState[] = []): string {
  const well = trackers.filter(({ health }) => health !== undefined).length
  return well === trackers.length ? formatCount(well) : `${well} of ${trackers.length}`
}
