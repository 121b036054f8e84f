import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '')

/** Runs a script on a machine of its own (machine.sh), with the files of a folder besides; returns what it printed. */
export async function runOnMachine(script: string, folder: string, files = ''): Promise<string> {
  const page = join(folder, 'page.sh')
  writeFileSync(page, script)
  const machine = join(root, 'scripts/operating/machine.sh')
  const own = ['--mount', '--net', '--pid', '--fork', '--kill-child']
  const child = spawn('unshare', [...own, 'bash', machine, root, process.execPath, page, files])
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (text: Buffer) => (output += text.toString()))
  await new Promise((resolve) => child.once('close', resolve))
  return output
}
