import type { NodeId, StreamPartId, UrgentMessage } from '@runnel/protocol'
import { percentile } from '../../measures/statistics.ts'
import { UrgentPublisher } from '../../world/urgent-publisher.ts'
import { tapped } from '../../world/tapped-transport.ts'
import { World, type SimNode, type WrapTransport } from '../../world/world.ts'
import { Camera, picturesPerS } from '../camera.ts'

export interface RoomOptions {
  readonly seed: string
  readonly members: number
  readonly degree: number
  /** The part of frames that vanish on every link between members, from when it is measured. */
  readonly lossRate: number
  readonly thinFloods: boolean
  /** Half-way one member is lost without a word. */
  readonly kills: boolean
  /** Members that announce everything, and send half of what is others' to nobody. */
  readonly liars: number
  /** Virtual seconds that are measured. */
  readonly seconds: number
}

/** What came of the messages of one kind, at all members that stayed, of all that stayed. */
export interface RoomOfKind {
  readonly kind: 'sound' | 'pictures'
  readonly expected: number
  readonly arrived: number
  readonly p50Ms: number
  readonly p95Ms: number
  readonly p99Ms: number
  readonly maxMs: number
  /** Copies of a message received by a member that received it. */
  readonly copies: number
}

export interface RoomReport {
  readonly kinds: readonly RoomOfKind[]
  /** Of all members, in a second and for each: digests sent, messages asked for, and of these sent. */
  readonly digests: number
  readonly pulled: number
  readonly served: number
}

type Kind = RoomOfKind['kind']
const kinds = ['sound', 'pictures'] as const

const noCounts = {
  ...{ sound: 0, 'sound again': 0, pictures: 0, 'pictures again': 0, digests: 0, pulled: 0, served: 0 },
}
type Counts = typeof noCounts
type Count = keyof Counts

/** As `@runnel/media` sends: sound of 20 ms, and pictures in three layers. */
const sound = { perS: 50, bytes: 90, lifetimeMs: 500, priority: 20 } as const
const pictureKbitPerS = 300
const lifetimeMs = 1_000
/** One way, of a link. */
const delayMs = { from: 5, to: 45 } as const
/** Of the network's frames, so that no way is always first by a hair. */
const jitterMs = 3
const formingMs = 20_000
/** Published before it is measured: floods become thin, and links learn what they carry. */
const warmUpMs = 3_000
const settlingMs = 2_000
const tickMs = 5

const noArchive = { fill: () => Promise.resolve() }

/** A room whose members all send sound and pictures: how many copies of each come, how late, and how many not at all? */
export async function runRoom(options: RoomOptions, onProgress: (text: string) => void): Promise<RoomReport> {
  const run = await RoomRun.form(options)
  await run.publish(onProgress)
  return run.measure()
}

interface Member extends SimNode {
  readonly voice: UrgentPublisher
  readonly camera: Camera
}

class RoomRun {
  readonly #options: RoomOptions
  readonly #world: World
  readonly #lines: { lossRate: number }
  readonly #members: Member[] = []
  readonly #delaysMs: Record<Kind, number[]> = { sound: [], pictures: [] }
  readonly #published: Record<Kind, number> = { sound: 0, pictures: 0 }
  #counted = noCounts
  #startMs = Infinity
  #endMs = Infinity
  #lost: Member | undefined

  private constructor(options: RoomOptions, world: World, lines: { lossRate: number }) {
    this.#options = options
    this.#world = world
    this.#lines = lines
  }

  /** Members in two overlays, of sound and of pictures. */
  static async form(options: RoomOptions): Promise<RoomRun> {
    const { seed, degree, thinFloods, members } = options
    const lines = { lossRate: 0 }
    const world = await World.create({
      ...{ seed, degree, jitterMs, thinFloods },
      latencyMs: (from, to) => delayBetween(world, from, to),
      lossRate: () => lines.lossRate,
    })
    const run = new RoomRun(options, world, lines)
    for (let i = 0; i < members; i++) await run.#add(i)
    await world.advanceTo(formingMs)
    return run
  }

  async publish(onProgress: (text: string) => void): Promise<void> {
    const { seconds, lossRate, kills } = this.#options
    this.#lines.lossRate = lossRate
    this.#startMs = formingMs + warmUpMs
    this.#endMs = this.#startMs + 1_000 * seconds
    for (let atMs = formingMs; atMs < this.#endMs; atMs += tickMs) {
      await this.#world.advanceTo(atMs)
      if (atMs % 1_000 === 0) onProgress(`second ${(atMs - formingMs) / 1_000}`)
      if (atMs === this.#startMs) this.#counted = this.#counts()
      if (kills && atMs === this.#startMs + 500 * seconds) this.#loseOne()
      this.#members.forEach((member, i) => this.#send(member, i, atMs - formingMs))
    }
    const counts = this.#counts()
    this.#counted = Object.fromEntries(
      Object.entries(counts).map(([name, count]) => [name, count - (this.#counted[name as Count] ?? 0)]),
    ) as Counts
    await this.#world.advanceTo(this.#endMs + settlingMs)
    for (const { node } of this.#members) void node.stop()
  }

  measure(): RoomReport {
    const { seconds, members } = this.#options
    const each = (count: number): number => count / seconds / members
    const { digests, pulled, served } = this.#counted
    return {
      kinds: kinds.map((kind) => this.#ofKind(kind)),
      ...{ digests: each(digests), pulled: each(pulled), served: each(served) },
    }
  }

  async #add(number: number): Promise<void> {
    const { crypto, clock } = this.#world
    const isLiar = number > 0 && number <= this.#options.liars
    const simNode = await this.#world.addNode(
      `member ${number}`,
      noArchive,
      {},
      isLiar ? this.#withholding(number) : undefined,
    )
    simNode.node.join(this.#partOf('pictures'))
    const [voice, camera] = kinds.map((kind) => {
      const identity = this.#world.identity(`${kind} of ${number}`)
      return new UrgentPublisher({ streamPartId: this.#partOf(kind) }, { clock, crypto, identity })
    }) as [UrgentPublisher, UrgentPublisher]
    this.#members.push({ ...simNode, voice, camera: new Camera(camera, lifetimeMs) })
    const ofLost = kinds.map((kind) => this.#world.identity(`${kind} of 0`).nodeId)
    simNode.node.on('message', ({ streamPartId, message, from }) => {
      const { timestamp, publisherId } = message
      const kind: Kind = streamPartId === this.#partOf('sound') ? 'sound' : 'pictures'
      const isOfLost = this.#options.kills && ofLost.includes(publisherId)
      if (timestamp < this.#startAtMs || timestamp >= this.#endAtMs || isOfLost) return
      if (from === undefined) this.#published[kind]++
      else if (!(this.#options.kills && number === 0)) this.#delaysMs[kind].push(clock.now() - timestamp)
    })
  }

  /** What it publishes itself leaves. */
  #withholding(number: number): WrapTransport {
    const random = this.#world.random(`liar ${number}`)
    const own = kinds.map((kind) => this.#world.identity(`${kind} of ${number}`).nodeId)
    const sendingUrgent = ({ publisher }: UrgentMessage): boolean =>
      own.some((id) => id === publisher) || random.next() < 0.5
    return (transport) => tapped(transport, { sendingUrgent })
  }

  /** By the wall clock. */
  get #startAtMs(): number {
    return this.#startMs + this.#clockAheadMs
  }

  get #endAtMs(): number {
    return this.#endMs + this.#clockAheadMs
  }

  get #clockAheadMs(): number {
    const { clock } = this.#world
    return clock.now() - clock.monotonicMs()
  }

  #partOf(kind: Kind): StreamPartId {
    return this.#world.partition(kinds.indexOf(kind))
  }

  /** Members send at times of their own. */
  #send(member: Member, index: number, atMs: number): void {
    if (member === this.#lost) return
    const shiftedMs = atMs - tickMs * (index % 4)
    const isDue = (perS: number): boolean =>
      shiftedMs >= 0 &&
      Math.floor((shiftedMs * perS) / 1_000) > Math.floor(((shiftedMs - tickMs) * perS) / 1_000)
    if (isDue(sound.perS)) member.node.publish(member.voice.next(new Uint8Array(sound.bytes), sound))
    if (isDue(picturesPerS)) member.node.publish(member.camera.next(pictureKbitPerS))
  }

  #loseOne(): void {
    const [member] = this.#members
    if (member === undefined) return
    this.#lost = member
    this.#world.kill(member, 'silent')
  }

  #ofKind(kind: Kind): RoomOfKind {
    const delaysMs = this.#delaysMs[kind]
    const at = (share: number): number => percentile(delaysMs, share) ?? Infinity
    const others = this.#members.length - (this.#options.kills ? 2 : 1)
    return {
      ...{ kind, expected: this.#published[kind] * others, arrived: delaysMs.length },
      ...{ p50Ms: at(0.5), p95Ms: at(0.95), p99Ms: at(0.99), maxMs: at(1) },
      copies: 1 + this.#counted[`${kind} again`] / Math.max(1, this.#counted[kind]),
    }
  }

  #counts(): Counts {
    const sum = { ...noCounts }
    for (const member of this.#members) {
      if (member === this.#lost) continue
      const { counters, streamParts } = member.node.metrics()
      sum.digests += counters['urgent.digests'] ?? 0
      sum.pulled += counters['urgent.pulled'] ?? 0
      sum.served += counters['urgent.served'] ?? 0
      for (const part of streamParts) {
        const kind = kinds.find((one) => this.#partOf(one) === part.streamPartId)
        if (kind === undefined) continue
        sum[kind] += part.delivered - part.published
        sum[`${kind} again`] += part.duplicates
      }
    }
    return sum
  }
}

/** The same for both ways, drawn from who is linked. */
function delayBetween(world: World, from: NodeId, to: NodeId): number {
  const label = from < to ? `${from} ${to}` : `${to} ${from}`
  return delayMs.from + Math.floor(world.random(label).next() * (delayMs.to - delayMs.from))
}
