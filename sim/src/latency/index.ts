/** Delays between regions, as files and as models of nodes spread over them. */
export { parseLatencyTable, readLatencyTable, type LatencyTable } from './latency-table.ts'
export { createLatencyModel, type LatencyModel } from './latency-model.ts'
