export { createTracker, type Tracker, type TrackerModules } from './create-tracker.ts'
export {
  defaultTrackerOptions,
  type ClusterJoin,
  type ExplorerOptions,
  type TrackerOptions,
} from './options.ts'
export type { Place, Places } from './http/places.ts'
export { defaultClusterLimits, type ClusterLimits } from './cluster/limits.ts'
export type { RegisteredTracker, TrackerRegistryView } from './cluster/ports.ts'
export type { ClusterTrackerView, ClusterView } from './cluster/cluster-view.ts'
export { defaultTrackerLimits, type TrackerLimits } from './limits.ts'
export { trackerError, trackerErrors, type TrackerErrorCode } from './errors.ts'
export type { TrackerLogger } from './logger.ts'
export { createIceServerSource, type IceServerSource } from './ice/ice-server-source.ts'
export { defaultTurnTtlS, type IceOptions } from './ice/ice-options.ts'
export { predictionLimits, type PropagationView } from './http/predictions.ts'
export {
  FloodPrediction,
  type FloodDelays,
  type FloodPredictionOptions,
  type MeasuredOverlay,
} from './core/prediction/flood-prediction.ts'
export { httpLimits } from './http/http-api.ts'
export type { EdgeView, TopologyView } from './http/views.ts'
export { counterHelp, type CounterName } from './core/counters.ts'
export {
  TrackerCore,
  type NodeToTracker,
  type TrackerCoreOptions,
  type TrackerEffect,
  type TrackerEvent,
  type CoreToNode,
} from './core/tracker-core.ts'
export type { StreamFacts, StreamSource } from './runtime/known-streams.ts'
export { TrackerRuntime, type TrackerRuntimeModules } from './runtime/tracker-runtime.ts'
export { OverlayTopology } from './core/topology/overlay-topology.ts'
