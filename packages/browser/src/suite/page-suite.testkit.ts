/// <reference lib="dom" />
/**
 * Runs in the page: the transport conformance suite over the browser's own WebSocket and RTCPeerConnection, compressed content
 * with its own streams, and the vectors of encryption.
 */
import { ciphers } from '@runnel/protocol'
import { systemClock } from '@runnel/protocol/system'
import { describeDeflate } from '../../../client/src/content/deflate-suite.testkit.ts'
import { describeEncryption } from '../../../client/src/encryption/vectors-suite.testkit.ts'
import { testModules } from '../../../transport/src/conformance/modules.testkit.ts'
import type {
  PairOptions,
  Station,
  TransportPair,
} from '../../../transport/src/conformance/transport-pair.testkit.ts'
import { describeTransport } from '../../../transport/src/conformance/transport-suite.testkit.ts'
import type { ConnectionLimits } from '../../../transport/src/connection/limits.ts'
import { makeWebRtcPair } from '../../../transport/src/webrtc/signalling.testkit.ts'
import { RelayedTransport } from './relayed-transport.testkit.ts'
import { runTest, testNames } from './vitest-shim.testkit.ts'

const relayUrl = new URLSearchParams(location.search).get('relay') ?? ''

let pairs = 0

async function makeWebSocketPair({ limits, limitsOfB }: PairOptions): Promise<TransportPair> {
  const pair = pairs++
  const station = async (
    name: string,
    ofOne?: Partial<ConnectionLimits>,
  ): Promise<Station & { readonly transport: RelayedTransport; readonly url: string }> => {
    const modules = testModules(name, systemClock, { ...limits, ...ofOne })
    const transport = new RelayedTransport({ relayUrl, name: `${name}${pair}` }, modules)
    await transport.start()
    return { nodeId: modules.identity.nodeId, transport, url: transport.url }
  }
  const [a, b, c] = [await station('a'), await station('b', limitsOfB), await station('c')]
  return {
    a,
    b,
    nobody: { peerId: c.nodeId, url: `${relayUrl}/dial/nobody` },
    faults: {
      silence: () => b.transport.fault('silence'),
      stallB: (stalled) => b.transport.fault(stalled ? 'stall' : 'flow'),
      cut: () => b.transport.fault('cut'),
      c,
    },
    nowMs: () => systemClock.monotonicMs(),
    settle: (promise) => promise,
    stop: async () => void (await Promise.all([a, b, c].map(({ transport }) => transport.stop()))),
  }
}

describeTransport('WebRtcTransport of the browser', makeWebRtcPair, { faults: false })
describeTransport('WebSocketTransport of the browser', makeWebSocketPair, { faults: true })
describeDeflate()
describeEncryption('the page', ciphers)

export const suite = { testNames, runTest }
Object.assign(globalThis, { suite })
