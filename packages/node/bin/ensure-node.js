// Plain JavaScript that an old Node can run, too: it finds a newer one.
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { handOver } from './hand-over.js'

/** Where the project's bootstrap puts the Node it fetches, seen from here. */
const pinnedNode = fileURLToPath(new URL('../../../.tools/node_modules/.bin/node', import.meta.url))

const bootstrap = fileURLToPath(new URL('../../../scripts/run.mjs', import.meta.url))

/** True when this Node is new enough; otherwise hands over to the one the bootstrap fetched, or says what is missing. */
export function ensureNode() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  if (major > 22 || (major === 22 && minor >= 13)) return true
  if (existsSync(pinnedNode) && process.execPath !== pinnedNode) handOver(pinnedNode, process.argv.slice(1))
  else {
    const orStart = existsSync(bootstrap) ? ', or run npm start once in the repository' : ''
    process.stderr.write(
      `runnel: Node ${process.versions.node} is too old (NODE_TOO_OLD). Install Node 22.13 or newer${orStart}.\n`,
    )
    process.exitCode = 1
  }
  return false
}
