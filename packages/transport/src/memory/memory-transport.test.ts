import { describeTransport } from '../conformance/transport-suite.testkit.ts'
import { testModules } from '../conformance/modules.testkit.ts'
import type { PairOptions, Station, TransportPair } from '../conformance/transport-pair.testkit.ts'
import type { ConnectionLimits } from '../connection/limits.ts'
import { MemoryNetwork } from './memory-network.ts'
import { settleOn } from './settle.testkit.ts'
import { VirtualClock } from './virtual-clock.ts'

async function makePair({ limits, limitsOfB }: PairOptions): Promise<TransportPair> {
  const clock = new VirtualClock()
  const network = new MemoryNetwork({ seed: 1, latencyMs: 5, jitterMs: 3, windowBytes: 64 * 1024 }, { clock })
  const station = async (name: string, ofOne?: Partial<ConnectionLimits>): Promise<Station> => {
    const transport = network.transport({ role: 'node' }, testModules(name, clock, { ...limits, ...ofOne }))
    await transport.start()
    return { nodeId: transport.nodeId, transport }
  }
  const [a, b, c] = [await station('a'), await station('b', limitsOfB), await station('c')]
  return {
    a,
    b,
    nobody: { peerId: testModules('nobody', clock).identity.nodeId },
    faults: {
      silence: () => network.setOnline(b.nodeId, false),
      stallB: (stalled) => network.setReading(b.nodeId, !stalled),
      cut: () => network.breakLinks(b.nodeId),
      c,
    },
    nowMs: () => clock.monotonicMs(),
    settle: (promise) => settleOn(clock, promise),
    stop: async () => void (await Promise.all([a, b, c].map(({ transport }) => transport.stop()))),
  }
}

describeTransport('MemoryTransport', makePair, { faults: true })
