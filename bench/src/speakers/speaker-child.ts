import { createClient, type NetworkSource, type RunnelClient, type Subscription } from '@runnel/client'
import { openSession } from '@runnel/media'
import { addressOf } from '@runnel/protocol'
import { roomStep } from '../../../examples/room/room-key.ts'
import { answerCalls } from '../child-calls.ts'
import { cpuUs } from '../statistics.ts'
import { repeatTake, type Take } from './take.ts'

/** Guests have two at once. */
const hostCount = 2

let speakers = 0
let hosts: Promise<readonly RunnelClient[]> | undefined

/** Members of the overlay, through which all speakers speak. */
function startHosts(network: NetworkSource): Promise<readonly RunnelClient[]> {
  const transports = { websocket: { listen: { port: 0 } } }
  return Promise.all(
    Array.from({ length: hostCount }, () => createClient({ network, guests: { serve: true }, transports })),
  )
}

/** A session on it says and shows, and neither hears nor sees. */
function withoutReading(client: RunnelClient): Parameters<typeof openSession>[2]['client'] {
  return {
    publish: (...args) => client.publish(...args),
    prepare: (...args) => client.prepare(...args),
    getStream: (id) => client.getStream(id),
    urgentRate: (...args) => client.urgentRate(...args),
    subscribe: <T>() => Promise.resolve({ unsubscribe: () => Promise.resolve() } as Subscription<T>),
  }
}

const speakerCalls = {
  /**
   * So many more members, which say and show the take without end. They are light clients and do not listen to each other, as they would
   * take the processors from the page.
   */
  async add(count: number, network: NetworkSource, streamId: string, secret: string, take: Take) {
    const via = (await (hosts ??= startHosts(network))).map(
      (host) => addressOf(host.network.contact, 'websocket') ?? '',
    )
    await Promise.all(
      Array.from({ length: count }, async () => {
        const name = `Speaker ${++speakers}`
        const client = await createClient({ network, via }, { contentSteps: [await roomStep(secret)] })
        repeatTake(await openSession(streamId, { name }, { client: withoutReading(client) }), take)
      }),
    )
  },
  cpuUs,
}

export type SpeakerCalls = typeof speakerCalls

answerCalls(speakerCalls)
