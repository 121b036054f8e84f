import { parseStreamPartId, type StreamPartId, type UrgentMessage } from '@runnel/protocol'
import { noArchive } from '../../world/no-archive.ts'
import { tapped } from '../../world/tapped-transport.ts'
import { UrgentPublisher } from '../../world/urgent-publisher.ts'
import type { SimNode, World, WrapTransport } from '../../world/world.ts'
import { Camera, picturesPerS } from '../camera.ts'

/** Each in a stream part, and so an overlay, of its own. */
export const kinds = ['sound', 'pictures'] as const
export type Kind = (typeof kinds)[number]

/** What a member sends of. */
export type Sends = Readonly<Record<Kind, boolean>>

/** As `@runnel/media` sends: sound of 20 ms, and pictures in three layers. */
const sound = { perS: 50, bytes: 90, lifetimeMs: 500, priority: 20 } as const
const pictureKbitPerS = 300
const lifetimeMs = 1_000
/** Members send at times of their own, but not all of them. */
const shifts = 4
/** How often it is asked to send. */
export const tickMs = 5

export const kindOfPart = (streamPartId: StreamPartId): Kind =>
  parseStreamPartId(streamPartId).partition === 0 ? 'sound' : 'pictures'

/** Somebody in a room, perhaps with a voice and a camera. */
export class RoomMember implements SimNode {
  readonly name: string
  readonly nodeId: SimNode['nodeId']
  readonly node: SimNode['node']
  readonly #world: World
  readonly #number: number
  readonly #voice: UrgentPublisher
  readonly #camera: Camera
  readonly #sends: Sends
  #isThere = true

  private constructor(world: World, number: number, sends: Sends, { name, nodeId, node }: SimNode) {
    this.#sends = sends
    this.name = name
    this.nodeId = nodeId
    this.node = node
    this.#world = world
    this.#number = number
    this.#voice = new UrgentPublisher(...publisherOf(world, 'sound', number))
    this.#camera = new Camera(new UrgentPublisher(...publisherOf(world, 'pictures', number)), lifetimeMs)
  }

  /** One that has joined. A liar announces everything, and sends half of what is others' to nobody. */
  static async add(
    world: World,
    number: number,
    { isLiar, sends }: { readonly isLiar: boolean; readonly sends: Sends },
  ): Promise<RoomMember> {
    const wrap = isLiar ? withholding(world, number) : undefined
    const simNode = await world.addNode(`member ${number}`, noArchive, {}, wrap)
    simNode.node.join(world.partition(1))
    return new RoomMember(world, number, sends, simNode)
  }

  /** Sends what is due so long after the room began. */
  send(atMs: number): void {
    const shiftedMs = atMs - tickMs * (this.#number % shifts)
    if (!this.#isThere || shiftedMs < 0) return
    const isDue = (perS: number): boolean => countAt(shiftedMs, perS) > countAt(shiftedMs - tickMs, perS)
    const { sound: speaks, pictures: shows } = this.#sends
    if (speaks && isDue(sound.perS)) this.node.publish(this.#voice.next(new Uint8Array(sound.bytes), sound))
    if (shows && isDue(picturesPerS)) this.node.publish(this.#camera.next(pictureKbitPerS))
  }

  /** Leaves, or comes back. */
  turn(): void {
    this.#isThere = !this.#isThere
    for (const partition of kinds.keys()) {
      if (this.#isThere) this.node.join(this.#world.partition(partition))
      else this.node.leave(this.#world.partition(partition))
    }
  }

  /** Its process ends without a word. */
  vanish(): void {
    this.#isThere = false
    this.#world.kill(this, 'silent')
  }
}

export const userOf = (world: World, kind: Kind, number: number) => world.identity(`${kind} of ${number}`)

const countAt = (ms: number, perS: number): number => Math.floor((ms * perS) / 1_000)

function publisherOf(
  world: World,
  kind: Kind,
  number: number,
): ConstructorParameters<typeof UrgentPublisher> {
  const { clock, crypto } = world
  const streamPartId = world.partition(kinds.indexOf(kind))
  return [{ streamPartId }, { clock, crypto, identity: userOf(world, kind, number) }]
}

/** What it publishes itself leaves. */
function withholding(world: World, number: number): WrapTransport {
  const random = world.random(`liar ${number}`)
  const own = kinds.map((kind) => userOf(world, kind, number).nodeId)
  const sendingUrgent = ({ publisher }: UrgentMessage): boolean =>
    own.some((id) => id === publisher) || random.next() < 0.5
  return (transport) => tapped(transport, { sendingUrgent })
}
