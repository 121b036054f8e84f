import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Cancel, Clock, DirectPacket, NodeId } from '@runnel/protocol'
import { VirtualClock } from '@runnel/transport'
import { SqliteStore } from './store/sqlite/sqlite-store.ts'

/** Time that passes only when told to; what happens within a turn happens as always. */
export class TestClock implements Clock {
  readonly #time = new VirtualClock()

  now = () => this.#time.now()
  monotonicMs = () => this.#time.monotonicMs()
  schedule = (delayMs: number, fn: () => void): Cancel => this.#time.schedule(delayMs, fn)
  endOfTurn = (fn: () => void): void => void setImmediate(fn)
  pass = (ms: number): void => this.#time.advanceBy(ms)
  moveWall = (byMs: number): void => this.#time.moveWall(byMs)
}

/** Resolves when the event loop has gone round so often: everything that waits for nothing else has happened. */
export async function turns(count = 5): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve))
}

/** Resolves as soon as it is true. */
export async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await turns(1)
}

export interface TestStore {
  readonly store: SqliteStore
  remove(): Promise<void>
}

/** A store of its own, open. */
export async function openTestStore(): Promise<TestStore> {
  const directory = mkdtempSync(join(tmpdir(), 'runnel-storage-'))
  const store = new SqliteStore({ directory })
  await store.open()
  return {
    store,
    remove: async () => {
      await store.close()
      rmSync(directory, { recursive: true })
    },
  }
}

/** Stands where a node's links are: remembers what is sent, and has as much room as it is told. */
export class TestLinks {
  readonly sent: { readonly peerId: NodeId; readonly packet: DirectPacket }[] = []
  readonly held = new Map<NodeId, number>()
  queued = 0
  isOpen = true
  /** Refuses packets until it is drained. */
  isFull = false
  onSent: () => void = () => {}
  #drained: (() => void)[] = []

  hold = (peerId: NodeId): (() => void) => {
    this.held.set(peerId, (this.held.get(peerId) ?? 0) + 1)
    return () => void this.held.set(peerId, (this.held.get(peerId) ?? 0) - 1)
  }
  sendDirect = (peerId: NodeId, packet: DirectPacket): boolean => {
    if (!this.isOpen || this.isFull) return false
    this.sent.push({ peerId, packet })
    this.onSent()
    return true
  }
  queuedBytes = (): number => this.queued
  drained = async (_: NodeId, signal?: AbortSignal): Promise<void> => {
    if (this.queued === 0) return
    await new Promise<void>((resolve) => {
      this.#drained.push(resolve)
      signal?.addEventListener('abort', () => resolve())
    })
    signal?.throwIfAborted()
  }
  /** Everything queued has left. */
  drain(): void {
    this.queued = 0
    this.isFull = false
    for (const resolve of this.#drained.splice(0)) resolve()
  }
  packets<T extends DirectPacket['type']>(type: T): Extract<DirectPacket, { type: T }>[] {
    return this.sent.flatMap(({ packet }) =>
      packet.type === type ? [packet as Extract<DirectPacket, { type: T }>] : [],
    )
  }
}
