import { LinkEmulator, type EmulatedHost } from './link-emulator.ts'
import type { ProbedWay } from './probe.ts'

/** Runs something with an emulator of some hosts, which have one delay between all of them. */
export async function withEmulator<T>(
  { hosts, delayMs }: { readonly hosts: number; readonly delayMs: number },
  run: (emulator: LinkEmulator, hosts: readonly EmulatedHost[]) => Promise<T>,
): Promise<T> {
  const emulator = new LinkEmulator()
  try {
    await emulator.start()
    const made: EmulatedHost[] = []
    for (let index = 0; index < hosts; index++) made.push(await emulator.addHost(`10.0.0.${index + 1}`))
    for (const { from, to } of everyWay(made, delayMs)) await emulator.setDelay(from, to, delayMs)
    return await run(emulator, made)
  } finally {
    await emulator.stop()
  }
}

/** From every host to every other. */
export function everyWay(
  hosts: readonly EmulatedHost[],
  delayMs: number,
): (ProbedWay & { readonly from: EmulatedHost; readonly to: EmulatedHost })[] {
  return hosts.flatMap((from) => hosts.flatMap((to) => (from === to ? [] : [{ from, to, delayMs }])))
}
