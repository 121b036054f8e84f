import { makeProxiedPair } from '../conformance/proxied-pair.testkit.ts'
import { describeTransport } from '../conformance/transport-suite.testkit.ts'
import { TcpTransport } from './tcp-transport.ts'

const listen = { host: '127.0.0.1', port: 0 }

describeTransport(
  'TcpTransport',
  (options) => makeProxiedPair(options, (modules) => new TcpTransport({ role: 'node', listen }, modules)),
  { faults: true },
)
