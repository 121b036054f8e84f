import type { Breaches } from './breaches.ts'

/** Something that peers can make grow: its current size and its limit. */
export interface Size {
  readonly name: string
  readonly size: number
  readonly limit: number
}

/** Nothing that peers can make grow is above its limit. */
export function checkBounds(owner: string, sizes: Iterable<Size>, breaches: Breaches): void {
  for (const { name, size, limit } of sizes)
    if (size > limit) breaches.report('bounded', `${owner}: ${name} ${size}, limit ${limit}`)
}
