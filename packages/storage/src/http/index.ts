/** What an HTTP client of a storage node needs; loads no store. */
export type { UsageReport } from '../usage-report.ts'
export { accessHeader, delegationHeader } from './access-header.ts'
export { parsePoint, pointHelp } from './point-in-time.ts'
