import { expect, it } from 'vitest'
import { needingValues, wrongOption } from './option-words.ts'

const options = {
  out: { type: 'string' },
  nodes: { type: 'number' },
  killEvery: { type: 'number' },
  parts: { type: 'array', number: true },
  via: { type: 'string', array: true },
  floods: { choices: ['thin', 'full'] },
  enter: { type: 'string', requiresArg: false },
  json: { type: 'boolean' },
} as const

it.each([
  ['--json=yes', '--json is true or false, not "yes"'],
  ['--no-json=1', '--no-json is true or false, not "1"'],
  ['--no-out', '--out needs a value'],
  ['--nodes=', '--nodes needs a value'],
  ['--nodes= --json', '--nodes needs a value'],
  ['--nodes |', '--nodes needs a value'],
  ['--kill-every=', '--kill-every needs a value'],
  ['--parts=', '--parts needs a value'],
  ['--out a --out b', '--out is given more than once'],
  ['--killEvery 1 --kill-every 2', '--kill-every is given more than once'],
  ['--floods thin --floods=full', '--floods is given more than once'],
])('finds what is wrong: %s', (line, wrong) => {
  const words = line.split(' ').map((word) => (word === '|' ? '' : word))
  expect(wrongOption(words, options)).toBe(wrong)
})

it.each([
  ...['--json --no-json --json=true', '--via a --via b', '--parts 1 --parts 2', '--out=', '--nodes 0'],
  ...['run --other= --no-other', '--out a -- --out b --nodes='],
])('finds nothing wrong: %s', (line) => {
  expect(wrongOption(line.split(' '), options)).toBeUndefined()
})

it('has options need values, but for switches and one that says so itself', () => {
  const need = Object.entries(needingValues(options)).flatMap(([name, option]) =>
    option.requiresArg === true ? [name] : [],
  )
  expect(need).toEqual(['out', 'nodes', 'killEvery', 'parts', 'via', 'floods'])
})
