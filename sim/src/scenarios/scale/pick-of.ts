import type { Random } from '@runnel/protocol'

/** So many different numbers below `below`; all when there are fewer. */
export function pickOf(below: number, count: number, random: Random): number[] {
  const picked = new Set<number>()
  while (picked.size < Math.min(count, below)) picked.add(Math.floor(random.next() * below))
  return [...picked]
}
