import type { Random } from '@runnel/protocol'
import type { FuzzWorld } from '../fuzz-world.ts'

/** An attacker that does what its keys allow. */
export interface Attacker {
  start(): Promise<void>
  stop(): void
}

export interface AttackerModules {
  readonly name: string
  readonly fuzz: FuzzWorld
  readonly random: Random
}

export type MakeAttacker = (modules: AttackerModules) => Attacker

/** The few networks that all keys of attackers are in. */
export function attackersAddress(random: Random): string {
  return `198.51.${Math.floor(random.next() * 2)}.${1 + Math.floor(random.next() * 250)}`
}

/** Does something again and again, after pauses drawn between two bounds, until it is stopped. */
export function again(
  { fuzz, random }: AttackerModules,
  pauseMs: { readonly min: number; readonly max: number },
  act: () => void,
): () => void {
  let isStopped = false
  const next = (): void => {
    fuzz.world.clock.schedule(pauseMs.min + random.next() * (pauseMs.max - pauseMs.min), () => {
      if (isStopped) return
      act()
      next()
    })
  }
  next()
  return () => (isStopped = true)
}
