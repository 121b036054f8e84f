/** Delays between regions, as files and as models of nodes spread over them. */
export { parseLatencyTable, readLatencyTable, type LatencyTable } from './latency-table.ts'
export { createLatencyModel, meanOneWayMs, type LatencyModel } from './latency-model.ts'
