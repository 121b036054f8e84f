import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * Makes a folder that takes the place of the system's for temporary files, of this process and of those it starts. It goes with all in it when this
 * process ends, in time or too late, interrupted or not; only SIGKILL leaves it.
 */
export function openScratch(): string {
  const folder = mkdtempSync(join(tmpdir(), 'runnel-bench-'))
  process.env['TMPDIR'] = folder
  // Processes that end at the same time may still write.
  process.on('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }))
  return folder
}
