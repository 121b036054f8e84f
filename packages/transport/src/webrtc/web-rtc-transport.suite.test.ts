import { testModules } from '../conformance/modules.testkit.ts'
import type { PairOptions, TransportPair } from '../conformance/transport-pair.testkit.ts'
import { describeTransport } from '../conformance/transport-suite.testkit.ts'
import { systemClock } from '@runnel/protocol/system'
import { SignallingNetwork } from './signalling.testkit.ts'

async function makePair({ limits, limitsOfB }: PairOptions): Promise<TransportPair> {
  const network = new SignallingNetwork()
  const a = await network.transport('a', {}, { limits: { ...limits } })
  const b = await network.transport('b', {}, { limits: { ...limits, ...limitsOfB } })
  return {
    a,
    b,
    nobody: { peerId: testModules('nobody', systemClock).identity.nodeId },
    settle: (promise) => promise,
    stop: async () => void (await Promise.all([a.transport.stop(), b.transport.stop()])),
  }
}

describeTransport('WebRtcTransport', makePair, { faults: false })
