import { seededRandom } from '@runnel/protocol'
import { batchOf, chainOf } from '../batches.testkit.ts'
import { SqliteStore } from './sqlite-store.ts'

/**
 * A process that appends until it is killed: several writers, each with its own chain. Writes `open` when the store is
 * open, and a line `writer first last` for each append once it is acknowledged.
 */
const [directory = '', seed = ''] = process.argv.slice(2)
const random = seededRandom(seed)
const say = (line: string) => process.stdout.write(`${line}\n`)

async function write(writer: number): Promise<void> {
  for (let next = 0; ;) {
    const batches = Array.from({ length: 1 + Math.floor(random.next() * 4) }, () => {
      const places = Array.from({ length: 1 + Math.floor(random.next() * 5) }, () => ({
        timestamp: Date.now(),
        sequenceNumber: next++,
      }))
      return batchOf(chainOf(`writer ${writer}`), places, Math.floor(random.next() * 2000))
    })
    await store.append(batches)
    for (const { messages } of batches) {
      const [first, last] = [messages[0], messages.at(-1)]
      say([writer, first?.timestamp, first?.sequenceNumber, last?.timestamp, last?.sequenceNumber].join(' '))
    }
  }
}

say('started')
const store = new SqliteStore({ directory })
await store.open()
say('open')
await Promise.all([0, 1, 2, 3].map(write))
