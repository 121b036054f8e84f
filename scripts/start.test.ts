import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const directory = mkdtempSync(join(tmpdir(), 'runnel-start-'))

afterAll(() => rmSync(directory, { recursive: true }))

describe('npm start', { timeout: 240_000 }, () => {
  it('prints nothing but JSON on stdout when asked to, and needs nothing compiled', async () => {
    const args = [
      'start',
      '-s',
      '--',
      '--nodes',
      '2',
      '--trackers',
      '1',
      '--for',
      '1s',
      '--json',
      '--dir',
      directory,
    ]
    const npm = spawn('npm', args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] })
    const [stdout, stderr]: [string[], string[]] = [[], []]
    npm.stdout.setEncoding('utf8').on('data', (text: string) => stdout.push(text))
    npm.stderr.setEncoding('utf8').on('data', (text: string) => stderr.push(text))
    const code = await new Promise((resolve) => npm.once('close', resolve))
    expect({ code, stderr: stderr.join('') }).toMatchObject({ code: 0 })
    expect(JSON.parse(stdout.join(''))).toMatchObject({ complete: true, died: [] })
    expect(stderr.join('')).not.toContain('compiling')
  })

  it('has beside its program the workers that this starts', () => {
    const program = join(root, 'packages/node/dist/program')
    const named = readdirSync(program)
      .filter((file) => file.endsWith('.js'))
      .flatMap(
        (file) => readFileSync(join(program, file), 'utf8').match(/(?<=["'`]\.\/)[\w-]+-worker\.js/g) ?? [],
      )
    expect(new Set(named)).toContain('sqlite-worker.js')
    for (const worker of named) expect(readdirSync(program)).toContain(worker)
  })
})
