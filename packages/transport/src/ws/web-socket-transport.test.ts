import { makeProxiedPair } from '../conformance/proxied-pair.testkit.ts'
import { describeTransport } from '../conformance/transport-suite.testkit.ts'
import { WebSocketTransport } from './web-socket-transport.ts'

const listen = { host: '127.0.0.1', port: 0 }

describeTransport(
  'WebSocketTransport',
  (options) =>
    makeProxiedPair(options, (modules) => new WebSocketTransport({ role: 'node', listen }, modules)),
  { faults: true },
)
