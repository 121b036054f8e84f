import { isNodeId, type NodeId } from '../ids/node-id.ts'
import { metadataField } from './metadata-field.ts'

/** What the owner of a stream says of its encryption. What is left out has its default. */
export interface EncryptionChoice {
  /** By default a stream is encrypted when not everybody may subscribe to it. */
  readonly content?: 'always' | 'never'
  /** Whether a new reader can read what is older than its permission; default: all. */
  readonly history?: 'all' | 'none'
  /** A user with the permissions grant and subscribe, whose keys all publishers use; default: each its own. */
  readonly keyHolder?: NodeId
  /** What publishers do while they cannot learn who may read: go on with the key they have (the default), or publish nothing. */
  readonly onOutage?: 'continue' | 'stop'
  /** The age at which a key is replaced, 1 to 365; default 7. */
  readonly rotateAfterDays?: number
}

/** Says what is wrong with such a choice, as plain data; undefined when nothing is. */
export function encryptionChoiceFault(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return 'encryption must be an object'
  const { content, history, keyHolder, onOutage, rotateAfterDays, ...others } = value as Record<
    string,
    unknown
  >
  const [unknown] = Object.keys(others)
  if (unknown !== undefined) return `encryption.${unknown} is unknown`
  const days = Number(rotateAfterDays ?? 1)
  if (!isOneOf(content, 'always', 'never')) return 'encryption.content must be always or never'
  if (!isOneOf(history, 'all', 'none')) return 'encryption.history must be all or none'
  if (!isOneOf(onOutage, 'continue', 'stop')) return 'encryption.onOutage must be continue or stop'
  if (keyHolder !== undefined && !isNodeId(keyHolder))
    return 'encryption.keyHolder must be an address: 0x and 40 hexadecimal digits, in lower case'
  return typeof rotateAfterDays === 'string' || !Number.isInteger(days) || days < 1 || days > 365
    ? 'encryption.rotateAfterDays must be a whole number from 1 to 365'
    : undefined
}

/**
 * The field `encryption` of a stream's metadata. Where it is there and not valid, as whoever may edit the stream writes it, it is taken as
 * `content: 'always'`: a mistake must not publish what was meant to be secret.
 */
export function encryptionChoiceIn(metadata: string): EncryptionChoice {
  const value = metadataField(metadata, 'encryption')
  if (value === undefined) return {}
  return encryptionChoiceFault(value) === undefined ? (value as EncryptionChoice) : { content: 'always' }
}

/** Until when (Unix milliseconds) a stream is in the clear, of which everybody may read what is published until `publicUntilMs`. */
export function clearUntilMs({ content }: EncryptionChoice, publicUntilMs: number): number {
  if (content === 'never') return Infinity
  return content === 'always' ? 0 : publicUntilMs
}

function isOneOf(value: unknown, ...words: readonly string[]): boolean {
  return value === undefined || words.some((word) => word === value)
}
