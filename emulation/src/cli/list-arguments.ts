import { emulationError } from '../errors.ts'

/** The words of `--name`, separated by commas, each of them one of those known. Throws INVALID_ARGUMENT. */
export function wordsOf<Word extends string>(name: string, words: readonly Word[], text: string): Word[] {
  return text.split(',').map((one) => {
    const word = words.find((known) => known === one)
    if (word === undefined) throw emulationError('INVALID_ARGUMENT', `--${name} is of ${words.join(', ')}`)
    return word
  })
}

/** Numbers separated by commas; NaN for what is none. */
export const numbersOf = (text: string): number[] =>
  text.split(',').map((one) => (one === '' ? NaN : Number(one)))

/** The values of `--name`, which take turns, each of them once. Throws INVALID_ARGUMENT. */
export function once<Value>(name: string, values: readonly Value[]): readonly Value[] {
  if (new Set(values).size === values.length) return values
  throw emulationError('INVALID_ARGUMENT', `--${name} names one more than once`)
}
