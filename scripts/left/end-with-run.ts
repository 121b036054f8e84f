import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { endLeftProcesses } from './left-processes.ts'

// Standard input ends with vitest, also where that was killed: then nobody else ends what its tests have started.
const [run = '', folder = ''] = process.argv.slice(2)
await once(process.stdin.resume(), 'end')
// Again for what these have started meanwhile.
while ((await endLeftProcesses(run, 0)).length > 0);
rmSync(folder, { recursive: true, force: true })
