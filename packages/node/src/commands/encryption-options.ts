import { encryptionChoiceFault, metadataField } from '@runnel/protocol'
import type { InferredOptionTypes, Options } from 'yargs'
import { nodeError } from '../errors.ts'

/** What the owner of a stream says of its encryption. */
export const encryptionOptions = {
  encrypt: {
    choices: ['always', 'never'],
    describe: 'When to encrypt. Default: unless everybody may subscribe',
  },
  history: {
    choices: ['all', 'none'],
    describe: 'What a new reader can read of older messages: all (default), or none',
  },
  'key-holder': {
    type: 'string',
    describe: 'Address of the user whose keys all publishers use, or me. Default: each publisher has its own',
  },
  'on-outage': {
    choices: ['continue', 'stop'],
    describe:
      'What publishers do when they cannot learn who may read: continue with the last key (default), or stop',
  },
  'rotate-after-days': {
    type: 'number',
    describe: 'Days after which a key is replaced, 1 to 365. Default: 7',
  },
} as const satisfies Record<string, Options>

type EncryptionArguments = InferredOptionTypes<typeof encryptionOptions>

/** Metadata with what the flags say in its field `encryption`; as it was without flags. `me` is who creates the stream. Throws USAGE. */
export function metadataWith(
  text: string | undefined,
  args: EncryptionArguments,
  me: string,
): string | undefined {
  const given = choiceGiven(args, me)
  if (given === undefined) return text
  if (text !== undefined && metadataField(text, 'encryption') !== undefined)
    throw nodeError('USAGE', 'set encryption in --metadata or by flags, not both')
  return JSON.stringify({ ...objectIn(text ?? '{}'), encryption: given })
}

/** Metadata as `text` says; or as it was, with what the flags say. Undefined where neither says anything. Throws USAGE. */
export function updatedMetadata(
  text: string | undefined,
  args: EncryptionArguments,
  before: string,
  me: string,
): string | undefined {
  const given = choiceGiven(args, me)
  if (text !== undefined || given === undefined) return metadataWith(text, args, me)
  const known = metadataField(before, 'encryption')
  return JSON.stringify({
    ...objectIn(before),
    encryption: { ...(typeof known === 'object' ? known : {}), ...given },
  })
}

/** What the flags say; undefined where there are none. Throws USAGE. */
function choiceGiven(args: EncryptionArguments, me: string): object | undefined {
  const holder = args['key-holder']
  const choice = {
    ...{ content: args.encrypt, history: args.history, onOutage: args['on-outage'] },
    keyHolder: holder === 'me' ? me : holder?.toLowerCase(),
    rotateAfterDays: args['rotate-after-days'],
  }
  const given = Object.fromEntries(Object.entries(choice).filter(([, value]) => value !== undefined))
  if (Object.keys(given).length === 0) return undefined
  const fault = encryptionChoiceFault(given)
  if (fault !== undefined) throw nodeError('USAGE', namingOption(fault))
  return given
}

/** What was typed is an option, not the field that it stands for. */
function namingOption(fault: string): string {
  const kebab = (field: string) => field.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
  return fault.replace(/^encryption\.(\w+)/, (_, field: string) => `--${kebab(field)}`)
}

/** Throws USAGE. */
function objectIn(text: string): object {
  const value = parsed(text)
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value
  throw nodeError('USAGE', 'with --encrypt and related flags, --metadata takes a JSON object')
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
