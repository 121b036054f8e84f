import { expect, it } from 'vitest'
import { ClusterCounters } from '../cluster/core/cluster-counters.ts'
import { TrackerStory } from '../core/tracker-core.testkit.ts'
import { addClusterMetrics, createMetrics } from './metrics.ts'

it('the metrics of a cluster ask for its figures, and never for the whole view', async () => {
  const registry = createMetrics(new TrackerStory().core)
  addClusterMetrics(registry, {
    ...{ counters: new ClusterCounters(), size: { linked: 1, registered: 2 }, state: 'joined' as const },
    figures: { leads: 3, replicas: 4, circuitsOut: 5, circuitsIn: 6 },
    ...{ view: () => expect.fail('costs too much') },
  })
  const text = await registry.metrics()
  const shown = ['leads', 'replicas', 'circuits_out', 'circuits_in'].map((name) =>
    text.split('\n').find((line) => line.startsWith(`runnel_tracker_cluster_${name} `)),
  )
  expect(shown).toEqual([
    'runnel_tracker_cluster_leads 3',
    'runnel_tracker_cluster_replicas 4',
    'runnel_tracker_cluster_circuits_out 5',
    'runnel_tracker_cluster_circuits_in 6',
  ])
})
