// Starts a network on this machine and serves an example that joins it:  npm run example -- chat
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { readNetworkFile } from '@runnel/client'
import { examples, readCommandLine, type Example } from './command-line.ts'
import { createRoomStream } from './room/create-room-stream.ts'
import { serveExample } from './serve.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const directory = join(root, '.runnel/examples')
const usualPort = 30_400

const asked = readCommandLine(process.argv.slice(2))
if ('help' in asked) {
  process.stdout.write(asked.help)
  process.exit(0)
}
if ('refused' in asked) {
  process.stderr.write(asked.refused)
  process.exit(64)
}
const example = asked.start

// Encoding and decoding take most of a small computer, and a room's members are in streams of their own.
const nodes = example === 'room' ? ['--nodes', '3'] : []
const runnel = join(root, 'packages/node/bin/runnel.js')
const network = spawn(process.execPath, [runnel, 'up', '--json', '--dir', directory, ...nodes], {
  stdio: ['inherit', 'pipe', 'inherit'],
})
// A Ctrl-C in a terminal reaches the network, too; a signal to this process alone is passed on. Of one that comes twice it takes one.
process.on('SIGINT', () => process.stdin.isTTY || network.kill('SIGINT'))
for (const name of ['SIGTERM', 'SIGHUP'] as const) process.on(name, () => network.kill(name))
const ended = once(network, 'exit')
/** First where the network is, then every second how it is doing. */
const lines = createInterface({ input: network.stdout })[Symbol.asyncIterator]()
const { done } = await lines.next()
if (!done) {
  if (example === 'room') await createRoomStream(directory)
  const served = await serveAtUsualPort(example)
  process.stdout.write('\n')
  let isAddressShown = false
  for await (const line of { [Symbol.asyncIterator]: () => lines }) {
    const { nodes, delivered, lost } = JSON.parse(line) as Readonly<Record<string, number>>
    const address = `Open ${served.url} in a browser, or in two. Ctrl-C ends it.`
    // One line, written over and over: what else is said does not push the address away.
    if (process.stdout.isTTY)
      process.stdout.write(`\r\x1b[K${address}  ${nodes} nodes, ${delivered} messages, ${lost} lost`)
    else if (!isAddressShown) process.stdout.write(`${address}\n`)
    isAddressShown = true
  }
  process.stdout.write('\n')
  await served.stop()
}
await ended
process.exitCode = network.exitCode ?? 1

/** The same address at each start, so that a page that is open finds the network, and what it has kept, again; another where that is taken. */
async function serveAtUsualPort(name: Example) {
  const file = readNetworkFile(join(directory, 'network.json'))
  try {
    return await serveExample(name, file, usualPort + examples.indexOf(name))
  } catch {
    return serveExample(name, file)
  }
}
