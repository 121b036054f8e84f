import { sentenceFor } from '../api/failure.ts'
import { maxTrackersAsked, type TrackerState } from '../api/trackers.ts'
import { formatCount, shortId, shownHost, shownText } from '../format.ts'
import { Copy } from '../parts/copy.tsx'
import { Table, type Column } from '../parts/table.tsx'
import type { Polled } from '../use-polled.ts'

const columns: Column<TrackerState>[] = [
  {
    title: 'Tracker',
    cell: ({ base, nodeId, isHome }) => (
      <>
        <span class="part-path">{shownHost(base)}</span>
        <span class="part-more" title={nodeId}>
          {shortId(nodeId)}
          {nodeId !== '' && <Copy text={nodeId} what="the tracker's id" />}
          {isHome && ' · serves this page'}
        </span>
      </>
    ),
  },
  { title: 'Health', cell: (tracker) => <Health tracker={tracker} /> },
  {
    title: 'Leads',
    isNumber: true,
    cell: ({ health, seen }) => count(health?.streamParts ?? seen?.load?.leads),
  },
  { title: 'Nodes', isNumber: true, cell: ({ health, seen }) => count(health?.nodes ?? seen?.load?.nodes) },
  {
    title: 'Replicas',
    isNumber: true,
    isMinor: true,
    cell: ({ cluster, seen }) => count(cluster?.replicas ?? seen?.load?.replicas),
  },
  { title: 'Place', isMinor: true, cell: ({ place }) => (place === undefined ? '–' : shownText(place.name)) },
]

/** The state of the trackers and the stream parts that each leads. */
export function TrackersView({ trackers: { value } }: { readonly trackers: Polled<TrackerState[]> }) {
  const listed = value?.find(({ isHome }) => isHome)?.cluster?.trackers.length ?? 0
  return (
    <section class="page">
      <h1>Trackers</h1>
      <p class="lead">
        Each stream part is led by one tracker, which builds its overlay; others keep replicas and take over
        when it stops. Messages never pass through trackers.
      </p>
      {value !== undefined && (
        <Table
          caption="Trackers of this network"
          columns={columns}
          rows={value}
          rowKey={({ nodeId, base }) => nodeId + base}
          empty="No tracker is known."
        />
      )}
      {listed > maxTrackersAsked && (
        <p class="empty">
          {maxTrackersAsked} of {formatCount(listed)} trackers are shown: this page asks no more.
        </p>
      )}
    </section>
  )
}

function count(value: number | undefined): string {
  return value === undefined ? '–' : formatCount(value)
}

const clusterWords = {
  unregistered: 'running, not in the registry',
  alone: 'running, the only one',
  joined: 'runs',
  failed: 'running, cannot reach others',
}

function Health({ tracker: { failure, cluster, seen, isHome } }: { readonly tracker: TrackerState }) {
  if (failure !== undefined)
    return (
      <span class="health" data-state="bad" title={shownText(sentenceFor(failure), 300)}>
        <span class="lamp" aria-hidden="true" />
        no answer
      </span>
    )
  const words = cluster === undefined ? 'running, in no cluster' : clusterWords[cluster.state]
  const isApart = !isHome && seen?.linked === false
  return (
    <span class="health" data-state={isApart || cluster?.state === 'failed' ? 'fair' : 'good'}>
      <span class="lamp" aria-hidden="true" />
      {words}
      {isApart && <span title={shownText(seen.error ?? '', 200)}>, not linked</span>}
    </span>
  )
}
