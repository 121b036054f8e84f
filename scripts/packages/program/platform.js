import { createClient } from '@runnel/client'
import { loadCrypto } from '@runnel/protocol'
import { createStore } from '@runnel/storage'
import { talk } from './talk.js'

// What is different from platform to platform: the curve, SQLite, and links, among clients here and with one elsewhere.
const network = JSON.parse(process.argv[2])
const [, { id }] = network.document.streams
const { backend } = await loadCrypto()

const store = createStore({ engine: 'sqlite', directory: 'store' }, { clock: Date })
await store.open()
await store.close()

const client = await createClient({ network })
// The other node is there, and an emulated link may take longer than a message waits for one.
const attempt = () => client.publish(id, { from: process.arch })
while ((await attempt()).neighbours === 0);
await client.close()

const websocket = await talk(network, {
  webrtc: false,
  websocket: { listen: { host: '127.0.0.1', port: 0 } },
})
const webrtc = await talk(network, {})
console.log(JSON.stringify({ platform: process.platform, arch: process.arch, backend, websocket, webrtc }))
