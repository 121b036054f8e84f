import { parse, type ParseError } from 'jsonc-parser'
import { nodeError } from '../../errors.ts'
import { writtenContent, type GivenContent } from '../../written-content.ts'

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** How a content is given: by a media type, as in HTTP, or by the name that messages have it by. */
export type ContentKind = 'json' | 'text' | 'binary'

/** The kind of a media type; `ndjson` for many. Throws GATEWAY_CONTENT_TYPE. */
export function kindOfMediaType(mediaType: string | undefined): ContentKind | 'ndjson' {
  const name = (mediaType ?? 'application/octet-stream').split(';')[0]?.trim().toLowerCase() ?? ''
  if (name === 'application/x-ndjson' || name === 'application/ndjson') return 'ndjson'
  if (name === 'application/json' || /^application\/.*\+json$/.test(name)) return 'json'
  if (name.startsWith('text/')) return 'text'
  if (name === 'application/octet-stream') return 'binary'
  throw nodeError('GATEWAY_CONTENT_TYPE', name.slice(0, 100))
}

/** Throws INPUT_INVALID, with the place of the mistake and without quoting it. */
export function contentOf(bytes: Uint8Array, kind: ContentKind): GivenContent {
  if (kind === 'binary') return { content: bytes }
  const text = textOf(bytes)
  return kind === 'text' ? { content: text } : writtenContent(bytes, parseJson(text))
}

/** Throws INPUT_INVALID. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    const errors: ParseError[] = []
    parse(text, errors, { disallowComments: true, allowTrailingComma: false })
    const place = errors[0]?.offset ?? text.length
    throw nodeError('INPUT_INVALID', `no JSON from character ${place + 1} on`)
  }
}

function textOf(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes)
  } catch {
    throw nodeError('INPUT_INVALID', 'it is not UTF-8')
  }
}
