/// <reference lib="dom" />
/** Runs in a page: a member of a room, who publishes or watches, and writes down what it showed, saw and heard. */
import type { ClientConfig } from '@runnel/client/browser'
import type { FlowCounters, PageRecord } from '../glass-figures.ts'
import type { GlassMember } from './glass-member.ts'
import { joinSfu } from './janus-member.ts'
import { joinNetwork } from './network-member.ts'
import { openScene, type Scene } from './scene.ts'
import { Witness } from './witness.ts'

/** How it takes part: by a network, or by a room of an SFU. */
export type GlassWay =
  | { readonly kind: 'network'; readonly config: ClientConfig; readonly streamId: string }
  | { readonly kind: 'sfu'; readonly url: string; readonly room: number }

let member: GlassMember | undefined
let witness: Witness | undefined
let scene: Scene | undefined
const counters: FlowCounters[] = []
/** Jitter follows the last packets: its mean over this many is that of the time measured. */
const countEveryMs = 500

async function count(): Promise<void> {
  const now = await member?.counters()
  if (now !== undefined) counters.push(now)
}

const glass = {
  async join(way: GlassWay, name: string) {
    witness = await Witness.open()
    member =
      way.kind === 'network'
        ? await joinNetwork(way.config, { streamId: way.streamId, name }, witness)
        : await joinSfu(way.url, { room: way.room, name }, witness)
  },
  async publish(clickEveryMs: number) {
    scene = await openScene(clickEveryMs)
    await member?.publish(scene)
  },
  watch: () => witness?.watch(() => member?.pictures()),
  /** Whether both pictures and sound have come. */
  hasBoth: () => (witness?.shown.length ?? 0) > 0 && (witness?.heardMs.length ?? 0) > 0,
  /** What is measured begins now. */
  async measure(): Promise<void> {
    await count()
    setInterval(() => void count(), countEveryMs)
  },
  async record(): Promise<PageRecord> {
    await count()
    const { shown = [], heardMs = [] } = witness ?? {}
    return {
      ...{ shown: [...shown], heardMs: [...heardMs], clicksMs: [...(scene?.clicksMs ?? [])] },
      counters: [...counters],
    }
  },
}

export type GlassPage = typeof glass
Object.assign(globalThis, { glass })
