import { RareMap, type Clock, type StreamPartId, type WantedNeighbour } from '@runnel/protocol'
import type { NodeEvent } from '../core/events.ts'
import { networkError } from '../errors.ts'
import { Waiters } from './waiters.ts'

export interface StorageSearchModules {
  readonly clock: Clock
  dispatch(event: NodeEvent): void
  assertRunning(): void
}

interface Search {
  nodes: readonly WantedNeighbour[] | undefined
  lost: boolean
}

/** Callers that wait for the storage nodes of a stream part. */
export class StorageSearch {
  readonly #timeoutMs: number
  readonly #modules: StorageSearchModules
  readonly #searches = new RareMap<number, Search>()
  readonly #waiters = new Waiters()
  #lastId = 0

  constructor(options: { readonly timeoutMs: number }, modules: StorageSearchModules) {
    this.#timeoutMs = options.timeoutMs
    this.#modules = modules
  }

  async find(streamPartId: StreamPartId, signal?: AbortSignal): Promise<readonly WantedNeighbour[]> {
    const { clock, dispatch, assertRunning } = this.#modules
    assertRunning()
    signal?.throwIfAborted()
    const requestId = (this.#lastId = (this.#lastId + 1) >>> 0)
    const search: Search = { nodes: undefined, lost: false }
    this.#searches.set(requestId, search)
    dispatch({ type: 'findStorage', requestId, streamPartId })
    const cancel = clock.schedule(this.#timeoutMs, () => {
      search.lost = true
      this.check()
    })
    try {
      await this.#waiters.wait(() => {
        assertRunning()
        if (search.nodes !== undefined) return true
        if (search.lost) throw networkError('TRACKER_LOST', `no answer on who stores ${streamPartId}`)
        return false
      }, signal)
      return search.nodes ?? []
    } finally {
      cancel()
      this.#searches.delete(requestId)
      dispatch({ type: 'storageSearchEnded', requestId })
    }
  }

  found(requestId: number, nodes: readonly WantedNeighbour[]): void {
    const search = this.#searches.get(requestId)
    if (search !== undefined) search.nodes = nodes
    this.check()
  }

  check(): void {
    this.#waiters.check()
  }
}
