import type { StreamPartId } from '@runnel/protocol'
import type { FuzzNode } from './fuzz-node.ts'
import { chance, oneOf, wholeFrom } from './fuzz-plan.ts'
import type { FuzzWorld } from './fuzz-world.ts'

/** Lasts until called. */
type Undo = () => void
type Action = (fuzz: FuzzWorld) => Promise<Undo | undefined> | Undo | undefined

/** How long what passes lasts. */
const longestMs = 20_000
/** Messages in one batch, at most. */
const maxBatch = 5
const chains = 3

/** What may happen, and how often beside the others. */
const actions: readonly (readonly [weight: number, action: Action])[] = [
  [4, joinNew],
  [3, joinMore],
  [3, leaveOne],
  [2, withNode((fuzz, node) => fuzz.stop(node))],
  [3, withNode((fuzz, node) => fuzz.kill(node, chance(0.5, fuzz.random) ? 'silent' : 'closed'))],
  [1, loseHalf],
  [2, withNode((fuzz, node) => fuzz.world.network.breakLinks(node.nodeId))],
  [2, takeOffline],
  [2, stall],
  [2, separate],
  [3, stopTracker],
  [1, hideTracker],
  [1, cutTracker],
  [2, addHostile],
]
/** In worlds with light clients. */
const guestActions: typeof actions = [
  ...actions,
  [6, startHost],
  [4, withHost((fuzz, node) => fuzz.kill(node, chance(0.5, fuzz.random) ? 'silent' : 'closed'))],
  [2, withHost((fuzz, node) => fuzz.world.network.breakLinks(node.nodeId))],
  [3, addGuest],
]
/** In worlds with an encrypted stream. */
const sealedActions: typeof actions = [
  ...actions,
  [6, withNode((fuzz, node) => fuzz.sealed?.grantOrRevoke(node.nodeId))],
]

/** Something happens, drawn from the seed. What passes is undone after a while, or by `stopAll`. */
export class FuzzActions {
  readonly #fuzz: FuzzWorld
  readonly #lasting = new Set<Undo>()

  constructor(fuzz: FuzzWorld) {
    this.#fuzz = fuzz
  }

  /** Something that may cost a message is going on. */
  get disturbed(): boolean {
    return this.#lasting.size > 0
  }

  async next(): Promise<void> {
    const { random } = this.#fuzz
    const all = actionsIn(this.#fuzz)
    let left = random.next() * all.reduce((sum, [weight]) => sum + weight, 0)
    const [, action] = all.find(([weight]) => (left -= weight) < 0) ?? []
    this.#fuzz.disturbances++
    const undo = await action?.(this.#fuzz)
    if (undo === undefined) return
    const once = (): void => {
      if (!this.#lasting.delete(once)) return
      this.#fuzz.disturbances++
      undo()
    }
    this.#lasting.add(once)
    this.#fuzz.world.clock.schedule(random.next() * longestMs, once)
  }

  stopAll(): void {
    for (const undo of [...this.#lasting]) undo()
  }
}

function actionsIn({ sealed, guests }: FuzzWorld): typeof actions {
  if (guests !== undefined) return guestActions
  return sealed === undefined ? actions : sealedActions
}

/** A random node publishes, if any can. */
export function publishSome(fuzz: FuzzWorld): void {
  const { random } = fuzz
  const node = oneOf(fuzz.nodes.values(), random)
  const id = oneOf(node?.streamParts ?? [], random)
  if (node === undefined || id === undefined) return
  fuzz.publish(node, id, wholeFrom(0, chains - 1, random), wholeFrom(1, maxBatch, random))
}

function cutTracker({ world }: FuzzWorld): undefined {
  world.network.breakLinks(world.trackerId)
}

async function addHostile(fuzz: FuzzWorld): Promise<undefined> {
  if (fuzz.hostiles < fuzz.plan.hostiles) await fuzz.addHostile()
}

async function joinNew(fuzz: FuzzWorld): Promise<undefined> {
  await addJoined(fuzz)
}

/** A new node, in one stream part or in several. */
export async function addJoined(fuzz: FuzzWorld): Promise<undefined> {
  joinSome(fuzz, await fuzz.addNode())
}

/** A light client, which may be in several as well. */
export async function addGuest(fuzz: FuzzWorld): Promise<undefined> {
  const { guests } = fuzz
  if (guests !== undefined) joinSome(fuzz, await guests.addGuest())
}

/** A host that does not run starts, for the first time or again. */
export async function startHost(fuzz: FuzzWorld): Promise<undefined> {
  const { guests } = fuzz
  const node = await guests?.startHost()
  if (node !== undefined && guests?.plan.joinsForGuests === false) joinSome(fuzz, node)
}

function joinSome(fuzz: FuzzWorld, node: FuzzNode): void {
  const first = oneOf(fuzz.streamParts, fuzz.random)
  for (const id of fuzz.streamParts) if (id === first || chance(0.4, fuzz.random)) node.join(id)
}

function joinMore(fuzz: FuzzWorld): undefined {
  const node = oneOf(fuzz.nodes.values(), fuzz.random)
  const others = fuzz.streamParts.filter((id) => node?.isIn(id) === false)
  const id = oneOf(others, fuzz.random)
  if (id !== undefined) node?.join(id)
}

function leaveOne(fuzz: FuzzWorld): undefined {
  const node = oneOf(fuzz.nodes.values(), fuzz.random)
  const id: StreamPartId | undefined = oneOf(node?.streamParts ?? [], fuzz.random)
  if (id !== undefined) node?.leave(id)
}

function withNode(act: (fuzz: FuzzWorld, node: FuzzNode) => void): Action {
  return (fuzz) => {
    const node = oneOf(fuzz.nodes.values(), fuzz.random)
    if (node !== undefined) act(fuzz, node)
    return undefined
  }
}

function withHost(act: (fuzz: FuzzWorld, node: FuzzNode) => void): Action {
  return (fuzz) => {
    const node = oneOf(fuzz.guests?.running ?? [], fuzz.random)
    if (node !== undefined) act(fuzz, node)
    return undefined
  }
}

function loseHalf(fuzz: FuzzWorld): undefined {
  for (const node of [...fuzz.nodes.values()]) if (chance(0.5, fuzz.random)) fuzz.kill(node, 'silent')
}

function takeOffline(fuzz: FuzzWorld): Undo | undefined {
  const node = oneOf(fuzz.nodes.values(), fuzz.random)
  if (node === undefined) return undefined
  const { network } = fuzz.world
  network.setOnline(node.nodeId, false)
  return () => fuzz.nodes.has(node.nodeId) && network.setOnline(node.nodeId, true)
}

/** As if its process were stopped: it takes nothing, without a goodbye. */
function stall(fuzz: FuzzWorld): Undo | undefined {
  const node = oneOf(fuzz.nodes.values(), fuzz.random)
  if (node === undefined) return undefined
  const { network } = fuzz.world
  network.setReading(node.nodeId, false)
  return () => network.setReading(node.nodeId, true)
}

function separate(fuzz: FuzzWorld): Undo | undefined {
  if (fuzz.apart !== undefined) return undefined
  fuzz.apart = new Set([...fuzz.nodes.keys()].filter(() => chance(0.4, fuzz.random)))
  return () => (fuzz.apart = undefined)
}

function stopTracker(fuzz: FuzzWorld): undefined {
  const { world, random } = fuzz
  world.stopTracker()
  // Not undone later: messages must arrive all the same.
  world.clock.schedule(random.next() * longestMs, () => void world.startTracker())
}

/** Its network is lost silently. */
function hideTracker(fuzz: FuzzWorld): Undo {
  const { network, trackerId } = fuzz.world
  network.setOnline(trackerId, false)
  return () => network.setOnline(trackerId, true)
}
