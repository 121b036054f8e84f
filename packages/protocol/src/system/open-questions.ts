import { RareSet } from '../shares/rare-set.ts'
import type { Delegation } from '../delegation/delegation.ts'
import type { NodeId } from '../ids/node-id.ts'
import type { PermissionScope } from '../ids/stream-id.ts'

/** The key of a question about a user in a stream or its key part, and about its delegation where it is acted for; `cause` is who makes us ask. */
export function questionKey(
  scope: PermissionScope,
  userId: NodeId,
  cause: string | undefined,
  delegation: Delegation | undefined,
): string {
  const { delegateId, fromMs, untilMs, block } = delegation ?? {}
  return [scope, userId, cause, delegateId, fromMs, untilMs, block].join(' ')
}

/**
 * Questions to a registry, each asked once at a time. Every answer may make the asker ask again about all that is still unknown; were a
 * question that is under way put once more each time, the number of them would double with each answer.
 */
export class OpenQuestions {
  readonly #open = new RareSet<string>()

  /** Questions with one key are the same. `onAnswer` is called once, later, with whether there was an answer; not where it is under way. */
  ask(key: string, ask: () => Promise<unknown>, onAnswer: (found: boolean) => void): void {
    if (this.#open.has(key)) return
    this.#open.add(key)
    const answered = (found: boolean): void => {
      this.#open.delete(key)
      onAnswer(found)
    }
    const put = async (): Promise<unknown> => ask()
    put().then(
      () => answered(true),
      () => answered(false),
    )
  }
}
