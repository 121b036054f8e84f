import { metadataField } from './metadata-field.ts'

/** Says what is wrong with the field `lastValues` of a stream's metadata; undefined when nothing is. */
export function lastValuesFault(value: unknown): string | undefined {
  return typeof value === 'boolean' ? undefined : 'lastValues must be true or false'
}

/**
 * Whether the owner of a stream asks its nodes to keep the newest message of each key for as long as they have room: the field `lastValues` of
 * its metadata.
 */
export function lastValuesIn(metadata: string): boolean {
  return metadataField(metadata, 'lastValues') === true
}
