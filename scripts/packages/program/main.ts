import type { NetworkSource } from '@runnel/client'
import { talk } from './talk.js'

const [text = '{}', kind] = process.argv.slice(2)
const network = JSON.parse(text) as NetworkSource
const listen = { host: '127.0.0.1', port: 0 }
// Who does not listen can be a neighbour by WebRTC only.
const content = await talk(network, kind === 'webrtc' ? {} : { webrtc: false, websocket: { listen } })
console.log(JSON.stringify(content))
