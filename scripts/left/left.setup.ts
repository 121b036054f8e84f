import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { endLeftProcesses, runVariable } from './left-processes.ts'

/** What the last tests have told to end has so long for that. Vitest gives up ten seconds after a Ctrl-C. */
const graceMs = 8_000

/**
 * Marks the processes that tests start, and ends those that the tests have left at the end of the run, which then fails. Vitest waits
 * for the output streams of its workers to close, and a process that a test has left may hold one open for ever. Temporary files of the
 * tests are in a folder of the run (TMPDIR), which is removed with it.
 */
export default function setup(): () => Promise<void> {
  // Once for all projects; a run that a test of another run starts is a run of its own.
  const mine = `${process.pid}-`
  if (!process.env[runVariable]?.startsWith(mine)) {
    process.env[runVariable] = mine + randomUUID()
    process.env['TMPDIR'] = mkdtempSync(join(tmpdir(), 'runnel-test-'))
    endWithThisProcess(process.env[runVariable], process.env['TMPDIR'])
  }
  const [run, folder] = [process.env[runVariable], tmpdir()]
  return async () => {
    const left = await endLeftProcesses(run, graceMs)
    rmSync(folder, { recursive: true, force: true })
    if (left.length === 0) return
    const lines = left.map(({ pid, command }) => `  ${pid} ${command}`)
    throw new Error(`Tests have left processes, which are killed now:\n${lines.join('\n')}`)
  }
}

/** Has what the run has started ended, and its files removed, where this process is killed, which does neither then. */
function endWithThisProcess(run: string, folder: string): void {
  const program = join(import.meta.dirname, 'end-with-run.ts')
  const env = { ...process.env, [runVariable]: undefined }
  // In a group of its own: what is sent to that of the tests does not end it.
  const watcher = spawn(process.execPath, [program, run, folder], {
    ...{ env, detached: true, stdio: ['pipe', 'ignore', 'inherit'] },
  })
  watcher.unref()
  if (watcher.stdin instanceof Socket) watcher.stdin.unref()
}
