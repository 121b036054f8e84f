import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { blocksOf, commandsOfRows, isIn } from './page.ts'
import { bundleForPages } from '../../packages/browser/src/bundle.ts'
import { launchChromium } from '../../packages/browser/src/chromium.testkit.ts'
import { servePages } from '../../packages/browser/src/page-server.testkit.ts'
import { newReadersFolder, root, Terminal } from './terminal.testkit.ts'

const readme = join(root, 'README.md')
const guides = join(root, 'docs/guides')
/** Pages with commands, in the order in which readers come to them; the browser's is opened in a browser, the table for Streamr has none. */
const pages = guidesInOrder().filter((name) => !['browser.md', 'from-streamr.md'].includes(name))
/** These start a network of their own. */
const startsNetwork = /^npm (start|run -s emulate|run example)/
const untilInterrupted = /^npx runnel (node|tracker) --key|^npx runnel respond|^npm run example|\| jq$/

/** It answers the command after it. */
const answers = /^npx runnel respond/

/** One network, started as the README does, for its readers and those of the guides, each in a folder of their own. */
describe('the README and the guides', { timeout: 600_000 }, () => {
  let folder: string
  let first: Terminal

  beforeAll(async () => {
    folder = newReadersFolder()
    first = new Terminal(folder)
    const [start] = blocksOf(readme)
    expect(start?.text).toBe('npm start\n')
    await first.run('npm start # until Ctrl-C')
  }, 300_000)

  afterAll(async () => {
    await first.interrupt()
    rmSync(folder, { recursive: true })
  }, 60_000)

  /** A folder where the network of `npm start` is found. */
  function newFolder(name: string): string {
    const path = join(folder, name)
    mkdirSync(path)
    symlinkSync(join(folder, '.runnel'), join(path, '.runnel'))
    return path
  }

  /** Pastes blocks, and closes the terminals. */
  async function read(terminal: Terminal, file: string): Promise<void> {
    for (const block of blocksOf(file)) if (block.text !== 'npm start\n') await terminal.paste(block)
    await terminal.interrupt()
  }

  it('README.md: its blocks, then the commands of its table', async () => {
    const terminal = new Terminal(newFolder('readme'))
    await read(terminal, readme)
    expect(isIn(['{"hello":"world"}', "{ hello: 'world' }", 'then: stored', 'live'], terminal.output)).toBe(
      true,
    )
    const explorer = /http:\S+\/explorer\//.exec(first.output)?.[0] ?? ''
    expect(await (await fetch(explorer)).text()).toContain('<title>')
    writeFileSync(join(folder, 'readme/values.ndjson'), '{"value":1}\n{"value":2}\n')
    await terminal.run(
      `RPC_URL=$(node -p "JSON.parse(fs.readFileSync('.runnel/up/network.json')).chain.rpcUrl")`,
    )
    const commands = commandsOfRows(readme).filter((command) => !startsNetwork.test(command))
    expect(commands.length).toBeGreaterThan(12)
    for (const command of commands) await enter(terminal, command)
    expect(terminal.output).toContain('"value":2')
  })

  it.each(pages)('docs/guides/%s', async (page) => {
    await read(new Terminal(newFolder(page)), join(guides, page))
  })

  it('docs/guides/browser.md: its page, in Chromium', async () => {
    const [page] = blocksOf(join(guides, 'browser.md'))
    const network = readFileSync(join(folder, '.runnel/up/network.json'), 'utf8')
    // What `npm run build` does: a fresh clone has no bundle yet.
    const bundle = join(folder, 'bundle')
    await bundleForPages(bundle)
    const served = await servePages(bundle, {
      '/': page?.text ?? '',
      '/network.json': network,
    })
    const chromium = await launchChromium()
    try {
      const opened = await chromium.newPage()
      const failed = new Promise<never>((_, reject) => {
        opened.on('pageerror', reject)
        opened.on('response', (response) => {
          // A script that is not there is no error of the page.
          if (response.url().endsWith('.js') && !response.ok())
            reject(new Error(`${response.status()} ${response.url()}`))
        })
      })
      const lobby = /0x\w+\/lobby/.exec(first.output)?.[0] ?? ''
      await opened.goto(`${served.url}?stream=${lobby}`)
      const shown = opened.locator('li').getByText('{"from":"a page"}').waitFor({ timeout: 60_000 })
      await Promise.race([shown, failed])
    } finally {
      await chromium.close()
      await served.close()
    }
  })
})

it.each(commandsOfRows(readme).filter((command) => startsNetwork.test(command)))(
  'README.md: %s',
  async (command) => {
    const folder = newReadersFolder()
    const terminal = new Terminal(folder)
    // Set for the rows of the table; here there is no such file yet.
    await terminal.run('export RUNNEL_KEY=.runnel/up/keys/user.key')
    await enter(terminal, command)
    rmSync(folder, { recursive: true })
  },
  300_000,
)

/** Runs a command of the table, until it ends or is up, or has answered the next one. */
async function enter(terminal: Terminal, command: string): Promise<void> {
  await terminal.run(`${command}${untilInterrupted.test(command) ? ' # until Ctrl-C' : ''}`)
  if (!answers.test(command)) await terminal.interrupt()
}

it('finds lines in order only', () => {
  expect(isIn(['a…c', 'd'], 'x abc\n(d)')).toBe(true)
  expect(isIn(['d', 'a'], 'abc d')).toBe(false)
})

/** As the README lists them. */
function guidesInOrder(): string[] {
  const list = /^- \*\*Guides\*\*.*$/m.exec(readFileSync(readme, 'utf8'))?.[0] ?? ''
  return [...list.matchAll(/\(docs\/guides\/([\w-]+\.md)\)/g)].map(([, name = '']) => name)
}

it('the README lists every guide once', () => {
  expect(guidesInOrder().toSorted()).toEqual(readdirSync(guides).toSorted())
})
