import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const family = 'runnel-emulation-'

/**
 * Makes the folder of this run, and removes the folders of killed runs: the name holds the id of the process that made it. If
 * another process has that id by now, the folder stays until that one has ended, too.
 */
export function openRunDirectory(parent = tmpdir()): string {
  for (const name of readdirSync(parent)) {
    const pid = name.startsWith(family) ? Number.parseInt(name.slice(family.length), 10) : NaN
    if (pid > 0 && !isAlive(pid)) rmSync(join(parent, name), { recursive: true, force: true })
  }
  return mkdtempSync(join(parent, `${family}${process.pid}-`))
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
