export { loadConfig, parseConfig, type ConfigSources } from './config/load-config.ts'
export type { LogFormat, LogLevel } from './config/log-levels.ts'
export type { BrokerConfig, BrokerConfigInput } from './config/schema.ts'
export { settingsTable } from './config/settings-table.ts'
export type { ClockQuality } from './control/clock-quality.ts'
export type { MeasuredMessage } from './control/measurement-log.ts'
export type { NodeMeasurements } from './control/node-control.ts'
export type { PingResult } from './control/ping.ts'
export type { Series } from './control/publish-series.ts'
export { nodeErrors, type NodeErrorCode } from './errors.ts'
export { startBroker, type Broker, type BrokerModules } from './node.ts'
export type {
  Plugin,
  PluginContext,
  PluginDefinition,
  PluginMetric,
  PluginSchema,
  SettingIssue,
} from './plugins/plugin.ts'
export type {
  NodeSnapshot,
  ObservedChain,
  PluginStatuses,
  PublishedTotals,
  TrackerState,
} from './snapshot.ts'
export type { NodeReport, UpReport } from './up/report.ts'
