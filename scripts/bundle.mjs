// Bundles what `npm start` runs, straight from the sources: the program of the command line and the page of the explorer. That takes seconds where the
// compiler takes a minute, and a bundled program starts in half the time. packages/node/bin/program.js tells which of the two is run.
import { spawnSync } from 'node:child_process'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bundleProgram } from '../packages/node/scripts/bundle-program.ts'
import { programDirectory, writeStamp } from './bundled.mjs'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')

await bundleProgram(join(root, programDirectory))

const page = ['--conditions=runnel-src', 'packages/explorer/src/bundle.ts']
const { status } = spawnSync(process.execPath, page, { cwd: root, stdio: ['ignore', 2, 2] })
if (status !== 0) process.exit(1)

// Last: what was not finished is begun anew.
writeStamp()
