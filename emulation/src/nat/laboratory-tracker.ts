import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  createIdentity,
  generatePrivateKey,
  loadCrypto,
  toStreamId,
  toStreamPartId,
  untilAborted,
  type FailedNeighbour,
  type FailureReason,
  type StreamPartId,
} from '@runnel/protocol'
import { systemRandom } from '@runnel/protocol/system'
import { ControlClient } from '../control/control-client.ts'
import { networkDocument, type TrackerPlace } from '../places/processes/network-document.ts'
import { RunnelProcess } from '../places/processes/runnel-process.ts'
import { publicAddresses, type Laboratory } from './laboratory.ts'
import { firstInLog } from './log-lines.ts'
import { inNamespace } from './namespaces.ts'
import { helperSets, type HelperSet } from './nat-scenarios.ts'
import type { Helpers } from './theory.ts'
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
  readonly #laboratory: Laboratory
  readonly #key = generatePrivateKey(systemRandom)
  readonly #process: RunnelProcess
  #carrier: RunnelProcess | undefined
  #where: TrackerPlace | undefined
  #streams = 0

  constructor(options: LaboratoryTrackerOptions, modules: { readonly laboratory: Laboratory }) {
    const { helpers, turn } = options
    this.#options = options
    this.#laboratory = modules.laboratory
    this.#process = new RunnelProcess({
      name: 'tracker',
      args: [
        'tracker',
        `--host=${publicAddresses[0]}`,
        '--no-explorer',
        '--log-level=debug',
        `--control-socket=${this.#socket}`,
        `--ice-server=${turn.stunUrl}`,
        ...turnFlags(helperSets[helpers], turn),
      ],
      env: { RUNNEL_PRIVATE_KEY: Buffer.from(this.#key).toString('hex') },
      logFile: this.#logFile,
      within: (command) => inNamespace(modules.laboratory.internet, command),
      onDeath: () => {},
    })
  }

  /** Rejects with PROCESS_FAILED. */
  async start(signal: AbortSignal): Promise<void> {
    await this.#process.start(signal)
    const { websocketUrl } = await untilAborted(new ControlClient(`unix:${this.#socket}`).info(), signal)
    this.#where = { nodeId: createIdentity(this.#key, await loadCrypto()).nodeId, url: websocketUrl }
    if (!helperSets[this.#options.helpers].carrier) return
    this.#carrier = this.#carrierOf(this.#where)
    await this.#carrier.start(signal)
  }

  /** A public node that carries circuits. It links to the tracker for a stream, and the tracker names it to the others. */
  #carrierOf(where: TrackerPlace): RunnelProcess {
    const { directory, helpers } = this.#options
    const networkFile = join(directory, `carrier-${helpers}.json`)
    const id = toStreamId(`${where.nodeId}/carrier`)
    writeFileSync(networkFile, JSON.stringify(networkDocument(where, { id })))
    return new RunnelProcess({
      name: 'carrier',
      args: [
        'node',
        ...[`--network=${networkFile}`, `--stream=${id}`, '--http-enabled=false', '--circuits-carry'],
        ...[`--websocket-host=${publicAddresses[0]}`, '--websocket-port=8443'],
      ],
      logFile: join(directory, `carrier-${helpers}.log`),
      within: (command) => inNamespace(this.#laboratory.internet, command),
      onDeath: () => {},
    })
  }

  /** A stream that is everybody's, with a network file and a folder of its own: no two pairs meet. */
  newStream() {
    const where = this.#where
    if (where === undefined) throw new Error('the tracker has not started')
    const name = `${this.#options.helpers}-${++this.#streams}`
    const streamId = toStreamId(`${where.nodeId}/${name.replaceAll('+', '-')}`)
    const directory = join(this.#options.directory, name)
    const networkFile = join(directory, 'network.json')
    mkdirSync(directory)
    writeFileSync(networkFile, JSON.stringify(networkDocument(where, { id: streamId })))
    const { certificate } = this.#options.turn
    return {
      streamId,
      directory,
      networkFile,
      certificate,
      reported: () => this.#reportOf(toStreamPartId(streamId, 0)),
    }
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

  async stop(): Promise<void> {
    await Promise.all([this.#process.stop(), this.#carrier?.stop()])
  }
}

function turnFlags({ turn }: Helpers, { turnUrls, secretFile }: TurnServer): string[] {
  return turn === undefined ? [] : [`--turn-url=${turnUrls[turn]}`, `--turn-secret-file=${secretFile}`]
}
