/** Content as it travels. */
export interface EncodedContent {
  readonly contentType: number
  readonly bytes: Uint8Array
}
