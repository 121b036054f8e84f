import type { PublishOptions } from '@runnel/client'

/** Content for `publish`. */
export interface GivenContent extends Pick<PublishOptions, 'bytesAre'> {
  readonly content: unknown
}

/** JSON with this value, as its bytes came, for JSON that is written anew may have other numbers; a JSON string as text. */
export function writtenContent(bytes: Uint8Array, value: unknown): GivenContent {
  return typeof value === 'string' ? { content: value } : { content: bytes, bytesAre: 'json' }
}
