import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  createIdentity,
  generatePrivateKey,
  loadCrypto,
  toStreamId,
  toStreamPartId,
  type FailedNeighbour,
  type FailureReason,
  type NodeId,
  type StreamPartId,
} from '@runnel/protocol'
import { systemRandom } from '@runnel/protocol/system'
import { ControlClient } from '../control/control-client.ts'
import { RunnelProcess } from '../places/processes/runnel-process.ts'
import { publicAddresses, type Laboratory } from './laboratory.ts'
import { firstInLog } from './log-lines.ts'
import { helperSets, type HelperSet } from './nat-scenarios.ts'
import type { TurnServer } from './turn-server.ts'

export interface LaboratoryTrackerOptions {
  /** Which servers it names to the nodes. */
  readonly helpers: HelperSet
  readonly turn: TurnServer
  /** For its socket, its log and the network files. */
  readonly directory: string
}

/** A tracker at the first public address, and the streams that it leads. */
export class LaboratoryTracker {
  readonly #options: LaboratoryTrackerOptions
  readonly #key = generatePrivateKey(systemRandom)
  readonly #process: RunnelProcess
  #nodeId: NodeId | undefined
  #url = ''
  #streams = 0

  constructor(options: LaboratoryTrackerOptions, modules: { readonly laboratory: Laboratory }) {
    const { helpers, turn } = options
    this.#options = options
    this.#process = new RunnelProcess({
      name: 'tracker',
      args: [
        'tracker',
        `--host=${publicAddresses[0]}`,
        '--no-explorer',
        '--log-level=debug',
        `--control-socket=${this.#socket}`,
        `--ice-server=${turn.stunUrl}`,
        ...(helperSets[helpers].turn
          ? [`--turn-url=${turn.turnUrl}`, `--turn-secret-file=${turn.secretFile}`]
          : []),
      ],
      env: { RUNNEL_PRIVATE_KEY: Buffer.from(this.#key).toString('hex') },
      logFile: this.#logFile,
      within: (command) => ['ip', 'netns', 'exec', modules.laboratory.internet, ...command],
      onDeath: () => {},
    })
  }

  /** Rejects with PROCESS_FAILED. */
  async start(signal: AbortSignal): Promise<void> {
    await this.#process.start(signal)
    const { websocketUrl } = await new ControlClient(`unix:${this.#socket}`).info()
    this.#nodeId = createIdentity(this.#key, await loadCrypto()).nodeId
    this.#url = websocketUrl
  }

  /** A stream that is everybody's, with a network file and a folder of its own: no two pairs meet. */
  newStream() {
    const name = `${this.#options.helpers}-${++this.#streams}`
    const streamId = toStreamId(`${this.#nodeId}/${name.replace('+', '-')}`)
    const directory = join(this.#options.directory, name)
    const networkFile = join(directory, 'network.json')
    const permissions = [{ user: 'public', publish: true, subscribe: true }]
    const trackers = [{ nodeId: this.#nodeId, url: this.#url }]
    mkdirSync(directory)
    writeFileSync(
      networkFile,
      JSON.stringify({ version: 1, trackers, streams: [{ id: streamId, permissions }] }),
    )
    return { streamId, directory, networkFile, reported: () => this.#reportOf(toStreamPartId(streamId, 0)) }
  }

  /** The first report of a failed link in a stream part, from the log. */
  #reportOf(id: StreamPartId): Promise<FailureReason | undefined> {
    return firstInLog(this.#logFile, ({ streamPartId, failed }) => {
      const [edge] =
        ((streamPartId === id ? failed : undefined) as readonly FailedNeighbour[] | undefined) ?? []
      return edge?.reason
    })
  }

  get #socket(): string {
    return join(this.#options.directory, 'tracker.sock')
  }

  get #logFile(): string {
    return join(this.#options.directory, `tracker-${this.#options.helpers}.log`)
  }

  stop(): Promise<void> {
    return this.#process.stop()
  }
}
