import {
  createClient,
  type Message,
  type NetworkSource,
  type RunnelClient,
  type Subscription,
} from '@runnel/client'
import { openSession, type MediaSession } from '@runnel/media'
import { answerCalls } from '../child-calls.ts'
import { cpuUs } from '../statistics.ts'
import { quickRoomStep } from './quick-room-step.ts'
import { RepeatedTakes } from './repeated-takes.ts'
import type { SpeakersFigures } from './room-figures.ts'
import { sharedNode } from './shared-node.ts'
import { takeCodecs, type Take } from './take.ts'

/** With sound and control messages, and with the pictures of the take. */
const partitions = [0, 1] as const

interface Room {
  readonly network: NetworkSource
  readonly streamId: string
  readonly secret: string
}

type SessionClient = Parameters<typeof openSession>[2]['client']
type Hear = (message: Message) => void

/** Speakers of one room, each a user with a client and a session of its own, over one node: the page checks what each of them signed. */
class Speakers {
  readonly #takes = new RepeatedTakes()
  readonly #hearers: Hear[] = []
  #node: Promise<RunnelClient> | undefined
  #count = 0

  get figures(): SpeakersFigures {
    return { cpuUs: cpuUs(), longestLateMs: this.#takes.takeLongestLateMs(), ...this.#takes.counters }
  }

  async add(count: number, room: Room, take: Take): Promise<void> {
    const node = await (this.#node ??= this.#start(room))
    await Promise.all(
      Array.from({ length: count }, async () => {
        const session = await this.#enter(
          `Speaker ${++this.#count}`,
          await clientOver(node, room),
          room.streamId,
        )
        this.#takes.add(session, take)
      }),
    )
  }

  async #start(room: Room): Promise<RunnelClient> {
    const { network, streamId } = room
    const node = await createClient({ network })
    for (const partition of partitions) await node.joinStreamPart(streamId, partition)
    const ear = await clientOver(node, room)
    await ear.subscribe(streamId, { partitions: [0], urgent: true }, (message) => {
      if (!(message.content instanceof Uint8Array)) for (const hear of this.#hearers) hear(message)
    })
    return node
  }

  /** As a member of the room example among many. It opens nothing itself: what the page says is opened once, and neither sound nor pictures. */
  async #enter(name: string, client: RunnelClient, streamId: string): Promise<MediaSession> {
    const speaking: SessionClient = {
      publish: (...args) => client.publish(...args),
      prepare: (...args) => client.prepare(...args),
      getStream: (id) => client.getStream(id),
      urgentRate: (...args) => client.urgentRate(...args),
      subscribe: <T>(
        _: string,
        { partitions: [partition] = [] }: { partitions?: readonly number[] },
        hear?: unknown,
      ) => {
        if (partition === 0) this.#hearers.push(hear as Hear)
        return Promise.resolve({ unsubscribe: () => Promise.resolve() } as Subscription<T>)
      },
    }
    const about = { name, decodes: takeCodecs, readers: 'members' } as const
    const session = await openSession(streamId, about, { client: speaking })
    await session.read(partitions)
    return session
  }
}

async function clientOver({ network: node }: RunnelClient, { network, secret }: Room): Promise<RunnelClient> {
  const modules = { createNode: () => sharedNode(node), contentSteps: [await quickRoomStep(secret)] }
  return createClient({ network }, modules)
}

const speakers = new Speakers()

const speakerCalls = {
  /** So many more members, which say and show the take without end. */
  add: (count: number, room: Room, take: Take) => speakers.add(count, room, take),
  /** What they have done so far. */
  figures: () => speakers.figures,
}

export type SpeakerCalls = typeof speakerCalls

answerCalls(speakerCalls)
