import { systemClock } from '@runnel/protocol/system'
import { testModules } from '../conformance/modules.testkit.ts'
import type { PairOptions, Station, TransportPair } from '../conformance/transport-pair.testkit.ts'
import { describeTransport } from '../conformance/transport-suite.testkit.ts'
import type { ConnectionLimits } from '../connection/limits.ts'
import { TcpProxy } from '../ws/tcp-proxy.testkit.ts'
import { TcpTransport } from './tcp-transport.ts'

async function makePair({ limits, limitsOfB }: PairOptions): Promise<TransportPair> {
  const listen = { host: '127.0.0.1', port: 0 }
  const proxies: TcpProxy[] = []
  const station = async (
    name: string,
    ofOne?: Partial<ConnectionLimits>,
  ): Promise<Station & { proxy: TcpProxy }> => {
    const modules = testModules(name, systemClock, { ...limits, ...ofOne })
    const transport = new TcpTransport({ role: 'node', listen }, modules)
    await transport.start()
    const [, port] = transport.addresses[0]?.match(/:(\d+)$/) ?? []
    const proxy = await TcpProxy.to(Number(port))
    proxies.push(proxy)
    return { nodeId: modules.identity.nodeId, transport, proxy, url: proxy.url.replace('ws:', 'tcp:') }
  }
  const [a, b, c] = [await station('a'), await station('b', limitsOfB), await station('c')]
  return {
    a,
    b,
    // The discard port, where nobody listens.
    nobody: { peerId: c.nodeId, url: 'tcp://127.0.0.1:9' },
    faults: {
      silence: () => b.proxy.flow({ toServer: false, toClient: false }),
      stallB: (stalled) => b.proxy.flow({ toServer: !stalled, toClient: true }),
      cut: () => b.proxy.cut(),
      c,
    },
    settle: (promise) => promise,
    async stop() {
      await Promise.all([a, b, c].map(({ transport }) => transport.stop()))
      await Promise.all(proxies.map((proxy) => proxy.stop()))
    },
  }
}

describeTransport('TcpTransport', makePair, { faults: true })
