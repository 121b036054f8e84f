import type { Catalogue } from '../catalogue/catalogue.ts'

/** Somebody in a session: one process of a user. */
export interface Member {
  /** Of its user and process; it stays while the member is there. */
  readonly id: string
  /** The address of its user, which signs what it sends. */
  readonly userId: string
  /** What it last said of itself. */
  readonly catalogue: Catalogue
}
