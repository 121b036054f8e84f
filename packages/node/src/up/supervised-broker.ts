import type { Broker } from '../node.ts'
import { measurementsPlugin } from '../plugins/measurements/measurements-plugin.ts'
import { tellSupervisor, type ParentMessage } from './child-protocol.ts'

/** Answers the questions of `runnel up` about this node, and begins and ends publishing when told. */
export function superviseBroker(broker: Broker): void {
  const measurements = broker.plugins.of(measurementsPlugin)
  process.on('message', (message: ParentMessage) => {
    if (message.type === 'publish') measurements?.begin()
    else if (message.type === 'snapshot') answer('snapshot', message.request)
    else void Promise.resolve(measurements?.end()).then(() => answer('paused', message.request))
  })
  const answer = (type: 'snapshot' | 'paused', request: number) =>
    tellSupervisor({ type, request, snapshot: broker.snapshot() })
  const { websocketUrl } = broker.snapshot()
  tellSupervisor({ type: 'ready', nodeId: broker.nodeId, url: websocketUrl, httpUrl: broker.httpUrl })
}
