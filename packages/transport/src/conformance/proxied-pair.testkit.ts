import { systemClock } from '@runnel/protocol/system'
import type { ConnectionLimits } from '../connection/limits.ts'
import type { Transport } from '../ports.ts'
import { TcpProxy } from '../ws/tcp-proxy.testkit.ts'
import { testModules } from './modules.testkit.ts'
import type { PairOptions, Station, TransportPair } from './transport-pair.testkit.ts'

/** A pair over TCP, with a proxy before each that can stall and cut what passes. `create` makes a transport that listens. */
export async function makeProxiedPair(
  { limits, limitsOfB }: PairOptions,
  create: (modules: ReturnType<typeof testModules>) => Transport,
): Promise<TransportPair> {
  const proxies: TcpProxy[] = []
  const station = async (
    name: string,
    ofOne?: Partial<ConnectionLimits>,
  ): Promise<Station & { proxy: TcpProxy; url: string }> => {
    const modules = testModules(name, systemClock, { ...limits, ...ofOne })
    const transport = create(modules)
    await transport.start()
    const { protocol, port } = new URL(transport.addresses[0] ?? '')
    const proxy = await TcpProxy.to(Number(port))
    proxies.push(proxy)
    return { nodeId: modules.identity.nodeId, transport, proxy, url: proxy.url.replace('ws:', protocol) }
  }
  const [a, b, c] = [await station('a'), await station('b', limitsOfB), await station('c')]
  return {
    a,
    b,
    // The discard port, where nobody listens.
    nobody: { peerId: c.nodeId, url: c.url.replace(/\d+$/, '9') },
    faults: {
      silence: () => b.proxy.flow({ toServer: false, toClient: false }),
      stallB: (stalled) => b.proxy.flow({ toServer: !stalled, toClient: true }),
      cut: () => b.proxy.cut(),
      c,
    },
    nowMs: () => systemClock.monotonicMs(),
    settle: (promise) => promise,
    async stop() {
      await Promise.all([a, b, c].map(({ transport }) => transport.stop()))
      await Promise.all(proxies.map((proxy) => proxy.stop()))
    },
  }
}
