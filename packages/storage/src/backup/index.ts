/** Copies of a store: what an operator of a storage node does by hand. */
export { exportLines, maxExportLineBytes, readExport, type ImportedLine } from './export-lines.ts'
export { importBatches } from './import-batches.ts'
export { openToRead } from './open-to-read.ts'
export { storedBatches } from './stored-batches.ts'
export { messageFileIn, SqliteFile } from '../store/sqlite/sqlite-file.ts'
