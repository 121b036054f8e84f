import type { NodeId } from '@runnel/protocol'

/** News of the encryption of a stream. */
export type EncryptionNews =
  /** A new key is in use, made for `readers` other readers with a card. */
  | { readonly state: 'rotated'; readonly epochId: string; readonly readers: number }
  /** It cannot be determined who may read: the previous key stays in use, or, where the owner wants that, nothing is published (`isStopped`). */
  | { readonly state: 'uncertain'; readonly isStopped: boolean; readonly error: Error }
  /** A user given a permission has no card yet, and asks for keys when it comes online. */
  | { readonly state: 'no-card'; readonly userId: NodeId }
  /** This user, the key holder, could not make a valid key; it keeps trying. */
  | { readonly state: 'unheld'; readonly error: Error }
  /** Keys could not be passed to readers, who ask for them when they come online. */
  | { readonly state: 'unshared'; readonly error: Error }
