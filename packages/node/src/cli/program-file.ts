import { fileURLToPath } from 'node:url'

/** The command line's own program. Bundles of it lie as deep below their package as this file. */
export const programFile = fileURLToPath(new URL('../../bin/runnel.js', import.meta.url))
