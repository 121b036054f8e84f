import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { buildFor, programsFor, testNeeds } from './programs.mjs'

const root = join(import.meta.dirname, '..')
const testFiles = globSync('{packages,examples,emulation,sim}/**/*.test.ts', {
  cwd: root,
  exclude: (name) => name === 'node_modules' || name === 'dist',
})
const everything = [...new Set(Object.values(testNeeds).flat())]
const forTests = (...args: string[]) => programsFor('test', args, testFiles)

describe('the programs that tests need', () => {
  it('are all of them without a path, whatever the options', () => {
    expect(forTests()).toEqual(everything)
    expect(forTests('--reporter=dot')).toEqual(everything)
  })

  it('are none for rooms that need Node alone', () => {
    expect(forTests('packages/transport')).toEqual([])
    expect(forTests('packages/protocol/src/codec')).toEqual([])
    expect(forTests('./packages/network/src/core', 'sim')).toEqual([])
  })

  it('are those of the folders that the paths lie in', () => {
    expect(forTests('packages/browser')).toEqual(['chromium', 'firefox'])
    expect(forTests('packages/protocol/src/codec', 'packages/tracker/src/ice')).toEqual(['openssl'])
    expect(forTests('packages/protocol')).toEqual(['python3 with venv'])
    expect(forTests('explorer.browser')).toEqual(['chromium'])
    expect(forTests('aws', '-q')).toEqual(['python3 with venv'])
  })

  it('are everything when a path means no test, for vitest to say so', () => {
    expect(forTests('no-such-test')).toEqual(everything)
  })

  it('are told for folders that exist', () => {
    for (const folder of Object.keys(testNeeds)) expect(existsSync(join(root, folder))).toBe(true)
  })
})

describe('the programs that other tasks need', () => {
  it.each([
    ['bench flood', []],
    ['bench tabs', ['chromium']],
    ['bench playback', ['chromium']],
    ['bench speakers --seconds 3', ['chromium']],
    ['bench --json encryption', ['chromium']],
    ['bench --limit 30 mqtt', ['mosquitto']],
    ['bench profile encryption', ['chromium']],
    ['bench profile --out DIR browser --loads 2', ['chromium']],
    ['bench peers --only mqtt', []],
    ['start', []],
    ['emulate', []],
    ['emulate no-such-experiment', []],
    ['emulate churn', ['C compiler', 'ip']],
    ['emulate --fixed loss', ['C compiler', 'ip']],
    ['emulate churn --place loopback', []],
    ['emulate nat --pair public', ['ip', 'nft', 'turnserver', 'openssl']],
    ['emulate --repeats 2 first-message --arms websocket', ['C compiler', 'ip', 'turnserver', 'openssl']],
    ['emulate first-frame', ['C compiler', 'ip', 'turnserver', 'openssl', 'vpxenc']],
    ['emulate media', ['C compiler', 'ip', 'vpxenc']],
    ['emulate media-glass', ['C compiler', 'ip', 'chromium', 'janus']],
    ['emulate soak --no-tabs', []],
    ['emulate sessions', ['chromium', 'Xvfb']],
    ['emulate sessions --arms headless', ['chromium']],
    ['emulate sessions --machines 2 --arms light-webrtc', ['ip']],
    ['emulate sessions-cost --held=headless=1,browser=2', ['chromium', 'Xvfb']],
  ])('depend on what is run: %s', (line, needed) => {
    const [task = '', ...args] = line.split(' ')
    expect(programsFor(task, args, [])).toEqual(needed)
  })

  it('are none to read the help, or to have arguments checked', () => {
    for (const last of ['--help', '--check'])
      expect(programsFor('emulate', ['sessions', last], [])).toEqual([])
    expect(programsFor('emulate', ['nat', '--help'], [])).toEqual([])
  })

  it('are told for every experiment and every benchmark in a page', () => {
    const emulation = readFileSync(join(root, 'emulation/README.md'), 'utf8')
    for (const [, name = ''] of emulation.matchAll(/npm run -s emulate -- ([\w-]+)/g))
      expect(programsFor('emulate', [name], []), name).not.toEqual([])
    const pages = readFileSync(join(root, 'bench/src/commands/pages.ts'), 'utf8')
    for (const [, name = ''] of pages.matchAll(/benchCommand\(\s*'(\w+)'/g))
      expect(programsFor('bench', [name], []), name).toEqual(['chromium'])
  })
})

describe('what is built before a task', () => {
  it('is nothing for the help of a task that runs from the sources', () => {
    for (const task of ['bench', 'emulate', 'sim', 'example', 'test', 'aws'])
      expect(buildFor(task, ['room', '--help'])).toBe('nothing')
    expect(buildFor('start', ['--help'])).toBe('bundle')
  })

  it('is the program alone for a network on this machine, and else all packages', () => {
    expect(buildFor('start', [])).toBe('bundle')
    expect(buildFor('example', ['room'])).toBe('bundle')
    expect(buildFor('emulate', ['churn'])).toBe('packages')
    expect(buildFor('build', [])).toBe('packages')
  })
})
