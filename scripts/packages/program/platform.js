import { createClient } from '@runnel/client'
import { loadCrypto } from '@runnel/protocol'
import { createStore } from '@runnel/storage'

// What is different from platform to platform: the curve, SQLite, and what goes over a link to a node elsewhere.
const network = JSON.parse(process.argv[2])
const [{ id }] = network.document.streams
const { backend } = await loadCrypto()

const store = createStore({ engine: 'sqlite', directory: 'store' }, { clock: Date })
await store.open()
await store.close()

const client = await createClient({ network })
await client.publish(id, { from: process.arch })
await client.close()
console.log(JSON.stringify({ platform: process.platform, arch: process.arch, backend }))
