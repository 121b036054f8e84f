import { readFileSync } from 'node:fs'

/** How many files this process may open; Node has raised it as far as it may. Undefined where the system does not say, or sets no limit. */
export function openFileLimit(): number | undefined {
  try {
    const [, soft] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? []
    return soft === undefined ? undefined : Number(soft)
  } catch {
    return undefined
  }
}
