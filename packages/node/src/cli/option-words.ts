import type { Options } from 'yargs'

type OptionTable = Readonly<Record<string, Options>>

/** Options that are no switches get a value each, unless one says itself that it needs none. */
export function needingValues(options: OptionTable): OptionTable {
  return Object.fromEntries(
    Object.entries(options).map(([name, option]) => [
      name,
      { requiresArg: option.type !== 'boolean', ...option },
    ]),
  )
}

/** What yargs says of wrong values. It says the rest in English then, whatever the locale. */
export const strings = {
  'Not enough arguments following: %s': '--%s needs a value',
  'Invalid values:': ' ',
  'Argument: %s, Given: %s, Choices: %s': '--%s is not %s, but one of %s',
}

/**
 * What is wrong with the words of a command line where yargs takes something else for it: an option that is given twice becomes a list, a
 * number without digits 0, `--no-` before what is no switch false or 0, and `--json=yes` false.
 */
export function wrongOption(words: readonly string[], options: OptionTable): string | undefined {
  const known = new Map(Object.entries(options).map(([name, option]) => [dashed(name), option]))
  const given = new Set<string>()
  const end = words.indexOf('--')
  for (const [i, word] of (end < 0 ? words : words.slice(0, end)).entries()) {
    const [, typed = '', value] = /^--([^=]+)(?:=(.*))?$/s.exec(word) ?? []
    const name = dashed(typed.replace(/^no-/, ''))
    const option = known.get(name)
    if (option === undefined) continue
    if (option.type === 'boolean') {
      if (value === undefined || value === 'true' || value === 'false') continue
      return `--${typed} is true or false, not ${JSON.stringify(value)}`
    }
    if (typed.startsWith('no-') || (isNumber(option) && (value ?? words[i + 1])?.trim() === ''))
      return `--${name} needs a value`
    if (given.has(name) && !isList(option)) return `--${name} is given more than once`
    given.add(name)
  }
  return undefined
}

const isNumber = ({ type, number }: Options): boolean => type === 'number' || number === true
const isList = ({ type, array }: Options): boolean => type === 'array' || array === true

function dashed(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}
