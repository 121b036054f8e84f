import { describeTransport } from '../conformance/transport-suite.testkit.ts'
import { makeWebRtcPair } from './signalling.testkit.ts'

describeTransport('WebRtcTransport', makeWebRtcPair, { faults: false })
