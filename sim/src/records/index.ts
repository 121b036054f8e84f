/** The format that experiments leave their results in, whatever made them: docs/records.md. */
export { parseRecord, readRecord, type ExperimentRecord, type RecordRow } from './record.ts'
export { recordLimits } from './record-limits.ts'
export { makeFolder } from './make-folder.ts'
export { writeInto } from './write-into.ts'
