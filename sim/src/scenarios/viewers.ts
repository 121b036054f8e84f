import { lightParts } from '@runnel/network/light'
import { urgentFieldsOf, type Identity, type NodeId } from '@runnel/protocol'
import { frameDelays, type FrameDelays } from '../measures/frame-delays.ts'
import { mean } from '../measures/statistics.ts'
import { UrgentPublisher } from '../world/urgent-publisher.ts'
import { noArchive } from '../world/no-archive.ts'
import type { SimNode } from '../world/world.ts'
import { Camera, layerOf, picturesPerS, type Layer } from './camera.ts'
import { Formation, type FormationOptions } from './formation.ts'

export interface ViewersOptions extends FormationOptions {
  readonly seconds: number
  /** Viewers that are light nodes, each through two others: the last of the model. Default 0. */
  readonly light?: number
}

/** What came of the frames of one kind, at all nodes but the sender's. */
interface ViewersOfKind extends FrameDelays {
  readonly kind: 'sound' | Layer
}

export interface ViewersReport {
  readonly kinds: readonly ViewersOfKind[]
  /** Interarrival jitter of sound (RFC 3550), the mean over viewers. */
  readonly jitterMs: number
  /** Copies that a viewer got of a frame, the first included. */
  readonly copies: number
  /** Copies of a frame that a node sent on: the mean, and of the busiest. */
  readonly sentOn: { readonly mean: number; readonly most: number }
}

const pictureKbitPerS = 500
const sound = { perS: 50, bytes: 90, lifetimeMs: 500, priority: 20 } as const
const tickMs = 10
const settlingMs = 3_000
/** Light nodes come within this time, and have as much again to attach. */
const attachingMs = 5_000

/** One sender, whose sound and pictures all others watch: production nodes in an overlay that has settled. */
export async function runViewers(
  options: ViewersOptions,
  onProgress: (text: string) => void,
): Promise<ViewersReport> {
  const { light = 0, model } = options
  const members = model.nodes - light
  const formation = await Formation.run(
    { ...options, model: { ...model, nodes: members }, servesGuests: light > 0 },
    onProgress,
  )
  const { world } = formation
  const nodes = [...formation.nodes, ...(await addGuests(formation, { light, members }))]
  const { clock, crypto, streamPartId } = world
  const [sender, ...viewers] = nodes
  if (sender === undefined) throw new Error('a sender at least')
  const [ofVoice, ofCamera] = ['voice', 'camera'].map((name) => world.identity(name)) as [Identity, Identity]
  const voice = new UrgentPublisher({ streamPartId }, { clock, crypto, identity: ofVoice })
  const camera = new Camera(new UrgentPublisher({ streamPartId }, { clock, crypto, identity: ofCamera }))
  const delaysMs = new Map<ViewersOfKind['kind'], number[]>()
  const sent = new Map<ViewersOfKind['kind'], number>()
  const jitters = new Map<NodeId, { lastMs: number; jitterMs: number }>()
  const count = (kind: ViewersOfKind['kind']): void => void sent.set(kind, (sent.get(kind) ?? 0) + 1)
  for (const { node, nodeId } of nodes)
    node.on('message', ({ message, from }) => {
      const fields = urgentFieldsOf(message)
      if (fields === undefined) return
      const kind = message.content.length === sound.bytes ? 'sound' : layerOf(fields)
      if (from === undefined) return count(kind)
      const delayMs = clock.now() - message.timestamp
      const delays = delaysMs.get(kind)
      if (delays === undefined) delaysMs.set(kind, [delayMs])
      else delays.push(delayMs)
      if (kind === 'sound') jitters.set(nodeId, jitterAfter(jitters.get(nodeId), delayMs))
    })

  const startMs = clock.monotonicMs()
  const before = sumOf(nodes, 'urgent.duplicates')
  const forwarded = nodes.map(({ node }) => node.metrics().counters['urgent.forwarded'] ?? 0)
  const untilMs = options.seconds * 1_000
  let [voices, pictures] = [0, 0]
  for (let atMs = 0; atMs < untilMs; atMs += tickMs) {
    await world.advanceTo(startMs + atMs)
    for (; voices * 1_000 <= atMs * sound.perS; voices++)
      sender.node.publish(voice.next(new Uint8Array(sound.bytes), sound))
    for (; pictures * 1_000 <= atMs * picturesPerS; pictures++)
      sender.node.publish(camera.next(pictureKbitPerS))
  }
  await world.advanceTo(startMs + untilMs + settlingMs)
  const arrived = [...delaysMs.values()].reduce((sum, delays) => sum + delays.length, 0)
  const again = sumOf(nodes, 'urgent.duplicates') - before
  const frames = [...sent.values()].reduce((sum, one) => sum + one, 0)
  const copiesSentOn = nodes.map(
    ({ node }, i) => (node.metrics().counters['urgent.forwarded'] ?? 0) - (forwarded[i] ?? 0),
  )
  for (const { node } of nodes) void node.stop()
  return {
    kinds: [...sent].map(([kind, number]) => ({
      kind,
      ...frameDelays(number * viewers.length, delaysMs.get(kind) ?? []),
    })),
    jitterMs: mean([...jitters.values()].map(({ jitterMs }) => jitterMs)) ?? 0,
    copies: 1 + again / Math.max(1, arrived),
    sentOn: { mean: (mean(copiesSentOn) ?? 0) / frames, most: Math.max(...copiesSentOn) / frames },
  }
}

/** Light nodes, each with two hosts by turns; resolves when they have had time to attach. */
async function addGuests(
  formation: Formation,
  { light, members }: { readonly light: number; readonly members: number },
): Promise<SimNode[]> {
  const { world, nodes } = formation
  // Whose pictures are watched serves nobody.
  const hosts = nodes.slice(1).map(({ nodeId }) => ({ url: `memory:${nodeId}` }))
  const startMs = world.clock.monotonicMs()
  const guests: SimNode[] = []
  for (let number = 0; number < light; number++) {
    await world.advanceTo(startMs + (attachingMs * (number + 1)) / light)
    const name = `guest ${number}`
    formation.place(world.identity(name).nodeId, members + number)
    const own = [number, number + 1].flatMap((turn) => hosts[turn % hosts.length] ?? [])
    const hosting = { parts: lightParts, hosts: { hosts: own, atOnce: own.length } }
    const guest = await world.startNode(name, noArchive, undefined, hosting)
    guest.node.join(world.streamPartId)
    guests.push(guest)
  }
  await world.advanceTo(startMs + 2 * attachingMs)
  return guests
}

function jitterAfter(before: { lastMs: number; jitterMs: number } | undefined, lastMs: number) {
  const { lastMs: earlierMs, jitterMs } = before ?? { lastMs, jitterMs: 0 }
  return { lastMs, jitterMs: jitterMs + (Math.abs(lastMs - earlierMs) - jitterMs) / 16 }
}

function sumOf(nodes: readonly SimNode[], counter: string): number {
  return nodes.reduce((sum, { node }) => sum + (node.metrics().counters[counter] ?? 0), 0)
}
