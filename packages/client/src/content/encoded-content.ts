import type { Extension } from '@runnel/protocol'

/** Content as it travels. */
export interface EncodedContent {
  readonly contentType: number
  readonly bytes: Uint8Array
  /** Beside it in the clear; default: none. */
  readonly extensions?: readonly Extension[] | undefined
}
