// Starts a network on this machine and serves an example that joins it:  npm run example -- chat
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { readNetworkFile } from '@runnel/client'
import { examples, serveExample } from './serve.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const directory = join(root, '.runnel/examples')

const example = examples.find((name) => name === process.argv[2])
if (example === undefined) {
  process.stderr.write(`usage: npm run example -- ${examples.join('|')}\n`)
  process.exit(64)
}

const runnel = join(root, 'packages/node/bin/runnel.js')
const network = spawn(process.execPath, [runnel, 'up', '--dir', directory], {
  stdio: ['inherit', 'pipe', 'inherit'],
})
// A Ctrl-C in a terminal reaches the network, too; a signal to this process alone is passed on.
process.on('SIGINT', () => process.stdin.isTTY || network.kill('SIGINT'))
process.on('SIGTERM', () => network.kill('SIGTERM'))
const ended = once(network, 'exit')
const lines = createInterface({ input: network.stdout })
const runs = new Promise<void>((resolve) => {
  lines.on('line', (line) => {
    if (line.startsWith('The network runs')) resolve()
    process.stderr.write(`${line}\n`)
  })
})
const isRunning = await Promise.race([runs.then(() => true), ended.then(() => false)])
if (isRunning) {
  const served = await serveExample(example, readNetworkFile(join(directory, 'network.json')))
  process.stdout.write(`\nOpen ${served.url} in a browser, or in two. Ctrl-C ends it.\n`)
  await ended
  await served.stop()
}
process.exitCode = network.exitCode ?? 1
