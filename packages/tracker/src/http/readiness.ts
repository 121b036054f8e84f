import type { ClusterState } from '../cluster/cluster-view.ts'

/** Why a tracker that runs is not one that nodes find and use. */
export interface NotReady {
  readonly code: 'NOT_REGISTERED' | 'CLUSTER_FAILED'
  readonly message: string
}

const byState: Readonly<Partial<Record<ClusterState, NotReady>>> = {
  unregistered: {
    code: 'NOT_REGISTERED',
    message: 'the registry does not list this tracker: no node finds it',
  },
  failed: { code: 'CLUSTER_FAILED', message: 'it cannot listen for the other trackers, and tries again' },
}

/** What keeps a tracker from doing its work; empty when it is ready. Without a cluster it is whenever it answers. */
export function notReadyReasons(state: ClusterState | undefined): NotReady[] {
  const reason = state && byState[state]
  return reason === undefined ? [] : [reason]
}
