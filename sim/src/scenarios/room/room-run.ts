import type { NodeId } from '@runnel/protocol'
import { World } from '../../world/world.ts'
import { RoomMeasure, type RoomReport } from './room-measure.ts'
import { kindOfPart, kinds, RoomMember, tickMs, userOf } from './room-member.ts'

export interface RoomOptions {
  readonly seed: string
  readonly members: number
  /** How many of them speak, and how many show themselves; those that come first. Default: all. */
  readonly voices?: number
  readonly pictures?: number
  readonly degree: number
  /** The part of frames that vanish on every link between members, from when it is measured. */
  readonly lossRate: number
  /** What each link carries each way. */
  readonly kbitPerS: number
  readonly thinFloods: boolean
  /** Half-way one member is lost without a word. */
  readonly kills: boolean
  /** The last third of the members leave and come back by turns, one each half second; what they send and get is not counted. */
  readonly churns: boolean
  /** Members that announce everything, and send half of what is others' to nobody. */
  readonly liars: number
  /** Virtual seconds that are measured. */
  readonly seconds: number
}

/** One way, of a link. */
const delayMs = { from: 5, to: 45 } as const
/** Of the network's frames, so that no way is always first by a hair. */
const jitterMs = 3
const formingMs = 20_000
/** Published before it is measured: floods become thin, and links learn what they carry. */
const warmUpMs = 3_000
const settlingMs = 2_000
const churnMs = 500
/** What waits before a link, or is under way in it. */
const windowBytes = 64 * 1024

/** A room whose members send sound and pictures: how many copies of each come, how late, and how many not at all? */
export async function runRoom(options: RoomOptions, onProgress: (text: string) => void): Promise<RoomReport> {
  const run = await RoomRun.form(options, onProgress)
  return run.publish()
}

class RoomRun {
  readonly #options: RoomOptions
  readonly #world: World
  readonly #lines: { lossRate: number }
  readonly #members: RoomMember[] = []
  readonly #measure = new RoomMeasure()
  /** Who sends under which id. */
  readonly #numbers = new Map<NodeId, number>()
  readonly #startMs = formingMs + warmUpMs
  readonly #endMs: number

  private constructor(options: RoomOptions, world: World, lines: { lossRate: number }) {
    this.#options = options
    this.#world = world
    this.#lines = lines
    this.#endMs = this.#startMs + 1_000 * options.seconds
  }

  /** Members in two overlays, of sound and of pictures. */
  static async form(options: RoomOptions, onProgress: (text: string) => void): Promise<RoomRun> {
    const { seed, degree, thinFloods, members } = options
    const lines = { lossRate: 0 }
    const world = await World.create({
      ...{ seed, degree, jitterMs, thinFloods },
      latencyMs: (from, to) => delayBetween(world, from, to),
      lossRate: () => lines.lossRate,
      line: { bytesPerMs: () => options.kbitPerS / 8, windowBytes },
      onPassing: (second) => onProgress(`second ${second}`),
    })
    const run = new RoomRun(options, world, lines)
    for (let number = 0; number < members; number++) await run.#add(number)
    await world.advanceTo(formingMs)
    return run
  }

  async publish(): Promise<RoomReport> {
    const { seconds, lossRate, kills, churns } = this.#options
    const staying = this.#members.filter((_, number) => this.#stays(number))
    const unsteady = this.#members.filter((member) => !staying.includes(member))
    this.#lines.lossRate = lossRate
    for (let atMs = formingMs; atMs < this.#endMs; atMs += tickMs) {
      await this.#world.advanceTo(atMs)
      if (atMs === this.#startMs) this.#measure.begin(staying)
      if (kills && atMs === this.#startMs + 500 * seconds) unsteady[0]?.vanish()
      if (churns && atMs % churnMs === 0) unsteady[(atMs / churnMs) % unsteady.length]?.turn()
      for (const member of this.#members) member.send(atMs - formingMs)
    }
    this.#measure.end(staying)
    await this.#world.advanceTo(this.#endMs + settlingMs)
    for (const { node } of this.#members) void node.stop()
    return this.#measure.report(staying.length, seconds)
  }

  async #add(number: number): Promise<void> {
    const { kills, liars, members, voices = members, pictures = members } = this.#options
    const isLiar = number >= Number(kills) && number < Number(kills) + liars
    const sends = { sound: number < voices, pictures: number < pictures }
    const member = await RoomMember.add(this.#world, number, { isLiar, sends })
    this.#members.push(member)
    for (const kind of kinds) this.#numbers.set(userOf(this.#world, kind, number).nodeId, number)
    const { clock } = this.#world
    member.node.on('message', ({ streamPartId, message, from }) => {
      const sentMs = message.timestamp - clock.now() + clock.monotonicMs()
      const isMeant = sentMs >= this.#startMs && sentMs < this.#endMs
      const publisher = this.#numbers.get(message.publisherId)
      if (!isMeant || publisher === undefined || !this.#stays(publisher) || !this.#stays(number)) return
      const kind = kindOfPart(streamPartId)
      if (from === undefined) this.#measure.published(kind)
      else this.#measure.arrived(kind, clock.now() - message.timestamp)
    })
  }

  /** Whether a member is there all the time. */
  #stays(number: number): boolean {
    const { kills, churns, members } = this.#options
    return !(kills && number === 0) && !(churns && number >= Math.ceil((2 / 3) * members))
  }
}

/** The same for both ways, drawn from who is linked. */
function delayBetween(world: World, from: NodeId, to: NodeId): number {
  const label = from < to ? `${from} ${to}` : `${to} ${from}`
  return delayMs.from + Math.floor(world.random(label).next() * (delayMs.to - delayMs.from))
}
