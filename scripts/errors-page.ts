// Writes docs/errors.md from the packages' error tables:  node --conditions=runnel-src scripts/errors-page.ts
import { writeFileSync } from 'node:fs'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { clientErrors } from '@runnel/client'
import { contractsErrors } from '@runnel/contracts'
import { mediaErrors } from '@runnel/media'
import { networkErrors } from '@runnel/network'
import { nodeErrors } from '@runnel/node'
import { protocolErrors, type ErrorTable } from '@runnel/protocol'
import { storageErrors } from '@runnel/storage'
import { trackerErrors } from '@runnel/tracker'
import { transportErrors } from '@runnel/transport'
import { benchErrors } from '../bench/src/errors.ts'
import { emulationErrors } from '../emulation/src/errors.ts'
import { underlayErrors } from '../emulation/src/underlay/errors.ts'
import { simErrors } from '../sim/src/errors.ts'

const tables: Readonly<Record<string, ErrorTable>> = {
  '@runnel/protocol': protocolErrors,
  '@runnel/transport': transportErrors,
  '@runnel/network': networkErrors,
  '@runnel/tracker': trackerErrors,
  '@runnel/client': clientErrors,
  '@runnel/media': mediaErrors,
  '@runnel/storage': storageErrors,
  '@runnel/node': nodeErrors,
  '@runnel/contracts': contractsErrors,
  '@runnel/bench': benchErrors,
  '@runnel/sim': simErrors,
  '@runnel/emulation': { ...emulationErrors, ...underlayErrors },
}

/** The page as it must stand in docs/errors.md. */
export function errorsPage(): string {
  const cell = (text: string) => text.replaceAll('|', '\\|')
  const sections = Object.entries(tables).map(([name, table]) => {
    const rows = Object.entries(table).map(
      ([code, { summary, remedy }]) => `| \`${code}\` | ${cell(summary)}. | ${cell(remedy)} |`,
    )
    return [`## ${name}`, '', '| code | what happened | what to do |', '| --- | --- | --- |', ...rows].join(
      '\n',
    )
  })
  return [
    '# Errors',
    'Every error Runnel throws, prints or closes a connection with has a code that stays. This page is made from the tables in the code (`node --conditions=runnel-src scripts/errors-page.ts`); a test compares the two.',
    ...sections,
    '',
  ].join('\n\n')
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  writeFileSync(fileURLToPath(new URL('../docs/errors.md', import.meta.url)), errorsPage())
}
