import type { SessionSubscription } from './session.ts'

interface Group {
  readonly members: SessionSubscription[]
  last: number
}

/** Shared subscriptions (MQTT 5, section 4.8.2): each message goes to one member of each group, those that are connected in turn. */
export class SharedTurns {
  /** By account, group and filter: groups of different accounts have nothing in common. */
  readonly #groups = new Map<string, Group>()

  get isEmpty(): boolean {
    return this.#groups.size === 0
  }

  /** Idempotent. */
  add(subscription: SessionSubscription): void {
    const id = idOf(subscription)
    const group = this.#groups.get(id) ?? { members: [], last: -1 }
    this.#groups.set(id, group)
    if (!group.members.includes(subscription)) group.members.push(subscription)
  }

  /** False where it was not there. */
  remove(subscription: SessionSubscription): boolean {
    const id = idOf(subscription)
    const group = this.#groups.get(id)
    const at = group?.members.indexOf(subscription) ?? -1
    if (group === undefined || at < 0) return false
    group.members.splice(at, 1)
    if (group.members.length === 0) this.#groups.delete(id)
    return true
  }

  /** Whose turn it is in each group; without a connected member, of those whose sessions keep it. */
  *next(isMeant: (subscription: SessionSubscription) => boolean): Generator<SessionSubscription> {
    for (const group of this.#groups.values()) {
      const { members, last } = group
      const inTurn = members.map((_, i) => (last + 1 + i) % members.length)
      const find = (takes: (member: SessionSubscription) => boolean) =>
        inTurn.find((i) => members[i] !== undefined && isMeant(members[i]) && takes(members[i]))
      // A session keeps nothing of QoS 0 for a client that is away.
      const at = find(({ session }) => session.isConnected) ?? find(({ options }) => options.qos > 0)
      const chosen = at === undefined ? undefined : members[at]
      if (at === undefined || chosen === undefined) continue
      group.last = at
      yield chosen
    }
  }
}

function idOf({ session, filter }: SessionSubscription): string {
  return JSON.stringify([session.key.account, filter.group, filter.text])
}
