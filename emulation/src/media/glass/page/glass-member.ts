/// <reference lib="dom" />
import type { FlowCounters } from '../glass-figures.ts'
import type { Scene } from './scene.ts'

/** Somebody in a room of whatever kind, in a page. */
export interface GlassMember {
  publish(scene: Scene): Promise<void>
  /** Where the pictures of the one that publishes are painted. */
  pictures(): HTMLCanvasElement | HTMLVideoElement | undefined
  /** As they are now; undefined where nothing has come. */
  counters(): Promise<FlowCounters | undefined>
}
