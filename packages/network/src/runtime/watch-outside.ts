import type { NodeEvent } from '../core/events.ts'
import type { NodeRuntimeModules } from './runtime-modules.ts'

/** Tells the core what changes in the registry and on this machine. Returns what ends that. */
export function watchOutside(
  { trackers, readerPolicy, onNetworkBack }: NodeRuntimeModules,
  dispatch: (event: NodeEvent) => void,
): () => void {
  const stops = [
    trackers.onChange(() => dispatch({ type: 'directoryChanged' })),
    readerPolicy?.onChange((streamId) => dispatch({ type: 'permissionsChanged', streamId })),
    onNetworkBack?.(() => dispatch({ type: 'networkBack' })),
  ]
  return () => {
    for (const stop of stops) stop?.()
  }
}
