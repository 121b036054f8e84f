import { spawnSync } from 'node:child_process'
import { expect, it } from 'vitest'
import { killedAfterItsLine } from '../places/processes/abandoned-script.testkit.ts'
import { untilEnded } from '../places/processes/until-ended.testkit.ts'

const lacksXvfb = spawnSync('Xvfb', ['-help']).error !== undefined

it.skipIf(lacksXvfb)('a display ends with the process that started it, however that ends', async () => {
  const code = `
    const { execFileSync } = await import('node:child_process')
    const { startDisplay } = await import(${JSON.stringify(new URL('display.ts', import.meta.url))})
    await startDisplay()
    console.log(execFileSync('pgrep', ['-P', String(process.pid), 'Xvfb'], { encoding: 'utf8' }).trim())`
  const pid = await killedAfterItsLine(code)
  expect(Number(pid)).toBeGreaterThan(0)
  await untilEnded(pid)
})
