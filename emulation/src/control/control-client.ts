import { request, type RequestOptions } from 'node:http'
import type { PhaseTimes } from '@runnel/client'
import type { ClockQuality, NodeMeasurements, PingResult, Series } from '@runnel/node'
import type { NodeId, StreamPartId } from '@runnel/protocol'
import type { LinkPath } from '@runnel/transport'
import { emulationError } from '../errors.ts'
import type { ControlAddress } from '../places/place.ts'

/** How a process stands: `GET /v1/control`, docs/control.md. */
export interface ProcessInfo {
  readonly role: 'node' | 'tracker'
  readonly nodeId: NodeId
  readonly pid: number
  readonly websocketUrl: string
  readonly links: number
  readonly knownClocks: number
  /** Of a node: when it reached what, in milliseconds after its start. */
  readonly phases?: PhaseTimes
  readonly isPublishing: boolean
  readonly streamParts: readonly {
    readonly streamPartId: StreamPartId
    readonly delivered: number
    readonly neighbours: readonly {
      readonly nodeId: NodeId
      readonly transport: string
      readonly rttMs?: number
      /** Of WebRTC. */
      readonly path?: LinkPath
    }[]
  }[]
}

/** An overlay as its tracker has it. */
export interface MeasuredOverlay {
  readonly streamPartId: StreamPartId
  readonly nodes: readonly NodeId[]
  readonly edges: readonly { readonly a: NodeId; readonly b: NodeId; readonly rttMs: number | null }[]
}

export interface TrackerMeasurements {
  readonly clock: ClockQuality
  readonly overlays: readonly MeasuredOverlay[]
}

/** A request that takes longer has failed. */
const timeoutMs = 120_000
/** The largest answer: what one node measured. */
const maxAnswerBytes = 256 * 1024 * 1024

/** Tells one process what to do. Everything rejects with CONTROL_FAILED. */
export class ControlClient {
  readonly #address: ControlAddress
  readonly #token: string | undefined

  constructor(address: ControlAddress, token?: string) {
    this.#address = address
    this.#token = token
  }

  info(): Promise<ProcessInfo> {
    return this.#ask('GET', '')
  }

  ping(targets: readonly string[], count: number): Promise<{ readonly results: readonly PingResult[] }> {
    return this.#ask('POST', '/ping', { targets, count })
  }

  join(streamPartId: StreamPartId): Promise<unknown> {
    return this.#ask('POST', '/join', { streamPartId })
  }

  /** Resolves when the first message is out. */
  publish(series: Series): Promise<unknown> {
    return this.#ask('POST', '/publish', series)
  }

  nodeMeasurements(): Promise<NodeMeasurements> {
    return this.#ask('GET', '/measurements')
  }

  trackerMeasurements(): Promise<TrackerMeasurements> {
    return this.#ask('GET', '/measurements')
  }

  reset(): Promise<unknown> {
    return this.#ask('POST', '/reset', {})
  }

  stop(): Promise<unknown> {
    return this.#ask('POST', '/stop', {})
  }

  /** What a process answers is what docs/control.md says: it is one of ours. */
  async #ask<Answer>(method: 'GET' | 'POST', path: string, body?: object): Promise<Answer> {
    const { status, text } = await this.#send(method, path, body)
    if (status >= 200 && status < 300) return JSON.parse(text) as Answer
    throw this.#failed(`${method} ${path}: ${status} ${text.slice(0, 500)}`)
  }

  #send(
    method: string,
    path: string,
    body: object | undefined,
  ): Promise<{ readonly status: number; readonly text: string }> {
    const { promise, resolve, reject } = Promise.withResolvers<{ status: number; text: string }>()
    const fail = (cause: Error): void => reject(this.#failed(`${method} ${path}: ${cause.message}`, cause))
    const options: RequestOptions = {
      ...this.#where(),
      method,
      path: `/v1/control${path}`,
      signal: AbortSignal.timeout(timeoutMs),
      headers: {
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(this.#token !== undefined && { authorization: `Bearer ${this.#token}` }),
      },
    }
    const sent = request(options, (answer) => {
      const chunks: Buffer[] = []
      let bytes = 0
      answer.on('data', (chunk: Buffer) => {
        bytes += chunk.length
        if (bytes > maxAnswerBytes) answer.destroy(new Error('the answer is too long'))
        chunks.push(chunk)
      })
      answer.once('error', fail)
      answer.once('end', () =>
        resolve({ status: answer.statusCode ?? 0, text: Buffer.concat(chunks).toString() }),
      )
    })
    sent.once('error', fail)
    sent.end(body === undefined ? undefined : JSON.stringify(body))
    return promise
  }

  #where(): RequestOptions {
    if (this.#address.startsWith('unix:')) return { socketPath: this.#address.slice('unix:'.length) }
    const { hostname, port } = new URL(this.#address)
    return { host: hostname, port }
  }

  #failed(detail: string, cause?: unknown) {
    return emulationError('CONTROL_FAILED', `${this.#address} ${detail}`, { cause })
  }
}
