import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { killedAfterItsLine } from '../../places/processes/abandoned-script.testkit.ts'
import { untilEnded } from '../../places/processes/until-ended.testkit.ts'
import { lacksRoot } from '../../underlay/privileges.testkit.ts'

const urlOf = (path: string): string => JSON.stringify(new URL(path, import.meta.url))

it.skipIf(lacksRoot)('the SFU ends with the process that started it, however that ends', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'runnel-test-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  // In place of Janus: says its process id, that it is ready, and stays.
  const janus = `#!/bin/sh\necho $$ > ${directory}/pid\necho WebSockets thread started\nexec sleep 600\n`
  const programs = join(directory, 'programs')
  mkdirSync(programs)
  writeFileSync(join(programs, 'janus'), janus, { mode: 0o755 })
  const code = `
    const { readFileSync } = await import('node:fs')
    const { GlassNetwork } = await import(${urlOf('glass-network.ts')})
    const { createUnderlay } = await import(${urlOf('../../underlay/underlay.ts')})
    const options = { arm: 'sfu', watching: 0, sites: ['eu-west-3'], relaySite: 'eu-west-2', lossPercent: 0, measureMs: 0, seed: 1 }
    await new GlassNetwork(options, createUnderlay('aws'), '${directory}').start(AbortSignal.timeout(60_000))
    console.log(readFileSync('${directory}/pid', 'utf8').trim())`
  const pid = await killedAfterItsLine(code, { PATH: `${programs}:${process.env['PATH']}` })
  expect(Number(pid)).toBeGreaterThan(0)
  await untilEnded(pid)
})
