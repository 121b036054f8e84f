import { boundedText } from '@runnel/protocol/system'
import { clientError, reasonOf } from '../../errors.ts'
import { maxDocumentBytes } from './network-document.ts'

/** Files, where the platform has some. */
export interface Files {
  /** Throws where it cannot be read, or is larger. */
  read(path: string, maxBytes: number): Promise<string>
  /** Throws where it cannot be written. */
  write(path: string, text: string): void
}

/** How long an answer may take. */
const requestTimeoutMs = 10_000

/** Where a document is: at a URL, or in a file. */
export class DocumentSource {
  /** A URL without what may be secret in it, or a path. */
  readonly shown: string
  readonly #place: string
  readonly #files: Files | undefined
  #entityTag: string | undefined
  /** Whether it answered a request by a tag; undefined before there was one. */
  #takesTags: boolean | undefined
  #text: string | undefined

  constructor(place: string, files: Files | undefined) {
    this.#place = place
    this.#files = files
    const url = URL.parse(place)
    this.shown = isUrl(place) && url !== null ? `${url.origin}${url.pathname}` : place
  }

  /** The text that is there now. Throws NETWORK_DOCUMENT_UNREACHABLE, or NETWORK_DOCUMENT_INVALID where it is too large. */
  async read(signal: AbortSignal): Promise<string> {
    if (this.#files !== undefined && !isUrl(this.#place))
      return this.#files.read(this.#place, maxDocumentBytes).catch((cause: unknown) => this.#fail(cause))
    const text = await this.#fetch(signal).catch((cause: unknown) => this.#fail(cause))
    if (text === undefined)
      throw clientError('NETWORK_DOCUMENT_INVALID', `${this.shown} is larger than ${maxDocumentBytes} bytes`)
    return text
  }

  /** Undefined where it is too large. */
  async #fetch(signal: AbortSignal): Promise<string | undefined> {
    const response = await this.#ask(signal)
    if (response.status === 304 && this.#text !== undefined) return this.#text
    if (!response.ok) {
      await response.body?.cancel()
      throw new Error(`HTTP ${response.status}`)
    }
    const text = await boundedText(response, maxDocumentBytes)
    // Not before all of it is there: an answer may break off.
    if (text !== undefined)
      [this.#text, this.#entityTag] = [
        text,
        (this.#takesTags !== false && response.headers.get('etag')) || undefined,
      ]
    return text
  }

  /** Whether it is another one than before, if that can be asked: a server may let pages of other origins read it, and not send this header (Fetch, section 4.8). */
  async #ask(signal: AbortSignal): Promise<Response> {
    if (this.#entityTag === undefined) return this.#get({}, signal)
    try {
      const response = await this.#get({ 'if-none-match': this.#entityTag }, signal)
      this.#takesTags = true
      return response
    } catch (error) {
      // Nobody is told whether it was that, or the network: where it was taken before, it was the network.
      if (!(error instanceof TypeError)) throw error
      const response = await this.#get({}, signal)
      this.#takesTags ??= false
      return response
    }
  }

  #get(headers: Readonly<Record<string, string>>, signal: AbortSignal): Promise<Response> {
    return fetch(this.#place, {
      ...{ headers, cache: 'no-store', credentials: 'omit' },
      signal: AbortSignal.any([signal, AbortSignal.timeout(requestTimeoutMs)]),
    })
  }

  #fail(cause: unknown): never {
    throw clientError('NETWORK_DOCUMENT_UNREACHABLE', `${this.shown} (${reasonOf(cause)})`, { cause })
  }
}

export const isUrl = (place: string): boolean => /^https?:\/\//.test(place)
