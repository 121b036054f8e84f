/** What those need who ask a storage node over HTTP; it loads no store. */
export type { UsageReport } from '../usage-report.ts'
export { accessHeader } from './access-header.ts'
export { parsePoint, pointHelp } from './point-in-time.ts'
