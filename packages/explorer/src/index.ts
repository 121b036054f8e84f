import { fileURLToPath } from 'node:url'

/** Where the files of the page are, once it is built: what a tracker's option `explorer.directory` takes. */
export const explorerDirectory = fileURLToPath(new URL('../dist/page', import.meta.url))
