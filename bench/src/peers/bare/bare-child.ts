import { bareNetwork } from '../../flood/bare-network.ts'
import { drive } from '../driver.ts'

/** The floor: a flood of degree 4 over packed bare links, with a set of seen numbers and nothing else. */
drive(async ({ nodes, variant }, onDelivery) => {
  const transport = variant['transport'] as 'webrtc' | 'websocket'
  const network = await bareNetwork({ transport, nodes, degree: 4, pack: true, onDelivery })
  return {
    publish(first, count) {
      for (let number = first; number < first + count; number++) network.publish(number)
    },
    duplicates: () => network.duplicates,
    stop: () => network.close(),
  }
})
