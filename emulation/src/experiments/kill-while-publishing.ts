/** What kills, and when. */
export interface KillPlan {
  /** By number, one after the other. */
  readonly victims: readonly number[]
  /** How long messages are published, from now on. */
  readonly publishingMs: number
}

export interface KillModules {
  /** Milliseconds since whenever. */
  now(): number
  pause(ms: number): Promise<void>
  /** Whether messages are still being published. */
  isPublishing(): Promise<boolean>
  /** Kills a node; resolves when it is back, and the overlay whole again. */
  kill(victim: number): Promise<void>
}

/**
 * Kills nodes in the middles of equal parts of the time in which messages are published; one that comes back late makes those
 * after it late. Nobody is killed once the last message is out. Resolves with those who were killed.
 */
export async function killWhilePublishing(
  { victims, publishingMs }: KillPlan,
  modules: KillModules,
): Promise<readonly number[]> {
  const startMs = modules.now()
  const killed: number[] = []
  for (const [index, victim] of victims.entries()) {
    const dueMs = startMs + ((index + 0.5) / victims.length) * publishingMs
    await modules.pause(Math.max(0, dueMs - modules.now()))
    if (!(await modules.isPublishing())) break
    killed.push(victim)
    await modules.kill(victim)
  }
  return killed
}
