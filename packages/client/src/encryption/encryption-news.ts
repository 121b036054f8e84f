import type { NodeId } from '@runnel/protocol'

/** What is to be said of the encryption of a stream. */
export type EncryptionNews =
  /** A new key is in use, for so many readers with a card. */
  | { readonly state: 'rotated'; readonly epochId: string; readonly readers: number }
  /** Nobody can say who may read, and the key from before stays in use. */
  | { readonly state: 'uncertain'; readonly error: Error }
  /** A user who was given a permission has no card yet: it asks for keys when it comes. */
  | { readonly state: 'no-card'; readonly userId: NodeId }
  /** This user, the key holder, could not make a valid key; it goes on trying. */
  | { readonly state: 'unheld'; readonly error: Error }
  /** Keys could not be told to readers; they ask for them when they come. */
  | { readonly state: 'unshared'; readonly error: Error }
