import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { examples, readCommandLine } from './command-line.ts'

describe('the command line of the examples', () => {
  it('starts the example that it names', () => {
    for (const example of examples) expect(readCommandLine([example])).toEqual({ start: example })
  })

  it('prints the usage of all examples, or of the one that is named', () => {
    const { help } = readCommandLine(['--help']) as { help: string }
    for (const example of examples) {
      expect(help).toMatch(new RegExp(`^  ${example} +\\w`, 'm'))
      for (const args of [
        [example, '--help'],
        ['--help', example],
        [example, '-h'],
      ])
        expect(readCommandLine(args)).toEqual({
          help: expect.stringMatching(`^npm run example -- ${example}\n`),
        })
    }
  })

  it.each([
    [[], 'Name an example.'],
    [['rooms'], 'There is no example rooms.'],
    [['room', '--port', '80'], 'Unknown option --port.'],
    [['room', 'chat'], 'Name one example.'],
    [['room', 'room'], 'Name one example.'],
  ])('refuses %j', (args, text) => {
    expect(readCommandLine(args)).toEqual({ refused: expect.stringMatching(`^${text}\n\nnpm run example`) })
  })

  it('ends without a network: with 0 after help, with 64 after what is refused', () => {
    const run = (...args: string[]) => {
      const main = join(import.meta.dirname, 'main.ts')
      const node = ['--conditions=runnel-src', main, ...args]
      return spawnSync(process.execPath, node, { encoding: 'utf8', timeout: 60_000 })
    }
    expect(run('room', '--help')).toMatchObject({
      ...{ status: 0, stderr: '' },
      stdout: expect.stringContaining('npm run example -- room\n'),
    })
    expect(run('room', '--bogus')).toMatchObject({
      ...{ status: 64, stdout: '' },
      stderr: expect.stringContaining('Unknown option --bogus.'),
    })
  })
})
