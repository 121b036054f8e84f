import { existsSync, globSync } from 'node:fs'
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
  it('depend on the experiment', () => {
    expect(programsFor('bench', ['flood'], [])).toEqual([])
    expect(programsFor('bench', ['tabs'], [])).toEqual(['chromium'])
    expect(programsFor('emulate', ['churn', '--place', 'loopback'], [])).toEqual([])
    expect(programsFor('emulate', ['churn'], [])).toEqual(['C compiler', 'ip'])
    expect(programsFor('emulate', ['nat'], [])).toContain('turnserver')
    expect(programsFor('emulate', ['sessions-cost'], [])).toEqual(['chromium', 'Xvfb'])
    expect(programsFor('start', [], [])).toEqual([])
    expect(programsFor('emulate', ['media'], [])).toContain('vpxenc')
    expect(programsFor('emulate', ['media', '--help'], [])).toEqual([])
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
