import { spawnSync } from 'node:child_process'
import { readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as client from '@runnel/client'
import { afterAll, expect, it } from 'vitest'
import { blocksOf } from './page.ts'
import { newReadersFolder, root } from './terminal.testkit.ts'

const sdk = Object.keys(client)

const folder = newReadersFolder()
afterAll(() => rmSync(folder, { recursive: true }))

/** What a page's words say that a reader has, and its blocks use. */
const given = `import type { Eip1193Provider, NetworkSource, RunnelClient, Signer } from '@runnel/client'
declare global {
  const network: NetworkSource, signer: Signer, client: RunnelClient, stream: { id: string }
  const window: { ethereum: Eip1193Provider }
  const streamId: string, id: string, storageNodeId: string, address: string, user: string
  const text: string, card: string, privateKey: string
  const readings: number[], yesterday: Date, today: Date, tomorrow: Date, tooMuch: boolean, again: boolean
}
`

/** A block as a module that imports what it uses of the SDK. */
function moduleOf(text: string): string {
  const used = sdk.filter((name) => text.includes(`${name}(`) && !/^import .*@runnel/m.test(text))
  return `import { ${used.join()} } from '@runnel/client'\n${text}\nexport {}\n`
}

it('the TypeScript of the pages compiles, as strictly as a project can', { timeout: 240_000 }, () => {
  const packages = readdirSync(join(root, 'packages'))
  const pages = [
    'README.md',
    ...['docs', 'docs/guides'].flatMap((directory) =>
      readdirSync(join(root, directory))
        .filter((name) => name.endsWith('.md'))
        .map((name) => join(directory, name)),
    ),
    ...packages.map((name) => join('packages', name, 'README.md')),
  ]
  const files = pages.flatMap((page) =>
    blocksOf(join(root, page))
      .filter(({ language }) => language === 'ts')
      .map(({ text }, i) => ({ name: `${page.replaceAll(/\W/g, '-')}-${i + 1}.mts`, text })),
  )
  for (const { name, text } of files) writeFileSync(join(folder, name), moduleOf(text))
  writeFileSync(join(folder, 'given.mts'), given)
  const config = {
    extends: join(root, 'tsconfig.base.json'),
    compilerOptions: { composite: false, incremental: false, noEmit: true, noUnusedLocals: false },
    include: ['*.mts'],
  }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config))
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  const { stdout } = spawnSync(process.execPath, [tsc, '-p', folder], { encoding: 'utf8' })
  expect(stdout).toBe('')
})
