import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { once } from 'node:events'
import { expect, it } from 'vitest'
import { resultsFolder, runCommand } from '../run-command.testkit.ts'
import type { LinkOptions } from './link-plan.ts'
import { mediaLinkCommand } from './media-link-command.ts'

const encodeRenditions = () => Promise.resolve({ clips: [], pictures: 1, ssimOf: () => Promise.resolve(1) })

it('keeps and draws the runs that ended when one fails, which ends the one beside it', async () => {
  const begun: string[] = []
  const runLink = async ({ arm, oneWayMs }: LinkOptions, _: unknown, signal: AbortSignal) => {
    begun.push(`${arm} ${oneWayMs}`)
    if (arm === 'ladder') return { arm, beside: 'alone', oneWayMs, ssim: 0.9 }
    if (oneWayMs === 50) throw new Error('it broke')
    await once(signal, 'abort')
    throw signal.reason
  }
  const folder = resultsFolder()
  const command = mediaLinkCommand(new AbortController().signal, { encodeRenditions, runLink })
  const { failure, printed } = await runCommand(
    command,
    `media-link --beside alone --arms ladder,ours,window --delays 1,50 --json --out ${folder}`,
  )
  expect(failure).toMatchObject({ message: 'it broke' })
  expect(begun).toEqual(['ladder 1', 'ladder 50', 'ours 1', 'ours 50'])
  expect(printed).toContain('2 of 6 runs')
  expect(JSON.parse(readFileSync(join(folder, 'media-link.json'), 'utf8'))).toMatchObject({
    rows: [{ oneWayMs: 1 }, { oneWayMs: 50 }],
  })
  expect(readdirSync(folder)).toContain('media-link-ssim.png')
})
