/** A program that opens and closes links in every way and must then exit. Run by process-end.test.ts. */
import { dial } from '../conformance/transport-pair.testkit.ts'
import { SignallingNetwork } from './signalling.testkit.ts'

for (let round = 0; round < 30; round++) {
  const network = new SignallingNetwork()
  const [a, b, c] = [await network.transport('a'), await network.transport('b'), await network.transport('c')]
  await Promise.all([dial(a, { peerId: b.nodeId }), dial(b, { peerId: a.nodeId })])
  // One more that is given up while it opens.
  const cancel = a.transport.dial({ peerId: c.nodeId, onOpen() {}, onFail() {} })
  for (let turn = 0; turn < round; turn++) await new Promise((resolve) => setImmediate(resolve))
  cancel()
  await Promise.all([a, b, c].map(({ transport }) => transport.stop()))
}
console.log('nothing left to do')
