import { expect, it } from 'vitest'
import { metadataWith } from './encryption-options.ts'

const nothing = {
  ...{ encrypt: undefined, history: undefined, 'key-holder': undefined, 'on-outage': undefined },
  'rotate-after-days': undefined,
}

it.each([
  [{ 'rotate-after-days': 0 }, '--rotate-after-days must be a whole number from 1 to 365'],
  [{ 'key-holder': '0x12' }, '--key-holder must be an address: 0x and 40 hexadecimal digits, in lower case'],
])('names the option that is wrong: %j', (given, text) => {
  expect(() => metadataWith(undefined, { ...nothing, ...given }, 'me')).toThrow(`: ${text}`)
})
