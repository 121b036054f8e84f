// Plain JavaScript that an old Node can run, too: it finds a newer one.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** Where the project's bootstrap puts the Node it fetches, seen from here. */
const pinnedNode = fileURLToPath(new URL('../../../.tools/node_modules/.bin/node', import.meta.url))

/** True when this Node is new enough; otherwise hands over to the one the bootstrap fetched, or says what is missing. */
export function ensureNode() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  if (major > 22 || (major === 22 && minor >= 13)) return true
  if (existsSync(pinnedNode) && process.execPath !== pinnedNode) handOver()
  else {
    process.stderr.write(
      `runnel: Node ${process.versions.node} is too old (NODE_TOO_OLD). Install Node 22.13 or newer, or run npm start once in the repository.\n`,
    )
    process.exitCode = 1
  }
  return false
}

function handOver() {
  const child = spawn(pinnedNode, process.argv.slice(1), { stdio: 'inherit' })
  // A Ctrl-C reaches the child by itself; this process only waits for it.
  process.on('SIGINT', () => {})
  process.on('SIGTERM', () => child.kill('SIGTERM'))
  child.on('exit', (code, signal) => (process.exitCode = code ?? (signal === 'SIGINT' ? 130 : 1)))
}
