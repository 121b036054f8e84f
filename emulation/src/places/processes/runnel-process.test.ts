import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { RunnelProcess } from './runnel-process.ts'

it('ends though what it has started holds its standard error open', async ({ signal }) => {
  const directory = mkdtempSync(join(tmpdir(), 'runnel-test-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  const program = join(directory, 'program.cjs')
  writeFileSync(
    program,
    `const child = require('node:child_process').spawn('sleep', ['600'], { stdio: 'inherit' })
     child.once('spawn', () => process.send(child.pid))
     setInterval(() => {}, 1_000)`,
  )
  let grandchild: unknown
  const process_ = new RunnelProcess({
    ...{ name: 'one', args: [], program, logFile: join(directory, 'log') },
    onMessage: (pid) => (grandchild = pid),
    onDeath: () => {},
  })
  await process_.start(signal)
  onTestFinished(() => void process.kill(Number(grandchild), 'SIGKILL'))
  await process_.kill()
  expect(grandchild).toEqual(expect.any(Number))
})
