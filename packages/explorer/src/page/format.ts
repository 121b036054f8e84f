/** How numbers, ids and texts of strangers are shown. */

/** Characters shown of a text from a stranger. */
const maxShownChars = 2_000

/** `0.4 ms`, `12 ms`, `1.25 s`; a dash where there is none. */
export function formatMs(ms: number | null | undefined): string {
  if (ms === null || ms === undefined || !Number.isFinite(ms)) return '–'
  if (ms < 10) return `${ms.toFixed(1)} ms`
  return ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(2)} s`
}

/** `0.4 messages/s`, `12 messages/s`. */
export function formatRate(perSecond: number): string {
  return `${perSecond < 10 ? perSecond.toFixed(1) : formatCount(Math.round(perSecond))} messages/s`
}

const wholeNumbers = new Intl.NumberFormat('en')

export function formatCount(count: number): string {
  return wholeNumbers.format(count)
}

/** `1 node`, `12 nodes`. */
export function plural(count: number, singular: string, several = `${singular}s`): string {
  return `${formatCount(count)} ${count === 1 ? singular : several}`
}

/** `0x1234…cdef`; an id as long as that stays. */
export function shortId(id: string): string {
  return id.length <= 13 ? id : `${id.slice(0, 6)}…${id.slice(-4)}`
}

/** The path of a stream part's stream and its partition, the owner apart. */
export function splitPart(id: string): {
  readonly owner: string
  readonly path: string
  readonly partition: number
} {
  const slash = id.indexOf('/')
  const hash = id.lastIndexOf('#')
  return { owner: id.slice(0, slash), path: id.slice(slash + 1, hash), partition: Number(id.slice(hash + 1)) }
}

/** `keyPartition` of the protocol, which is not loaded before somebody joins. */
const keyPartition = 100

/** `partition 3`; the one after all others is where the keys of an encrypted stream travel. */
export function partitionText(partition: number): string {
  return partition === keyPartition ? 'keys' : `partition ${partition}`
}

/** `just now`, `12 s ago`, `3 min ago`. */
export function formatAge(ms: number): string {
  if (ms < 1_500) return 'just now'
  return ms < 90_000 ? `${Math.round(ms / 1_000)} s ago` : `${Math.round(ms / 60_000)} min ago`
}

/** A tracker's address for display; text that is not a URL is shown unchanged. */
export function shownHost(url: string): string {
  const host = URL.canParse(url) ? new URL(url).host : ''
  return shownText(host === '' ? url : host, 80)
}

/** Controls, and what turns the direction of writing around: with them a text could pass for another. */
const invisible = /[\p{Cc}\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/gu

/** A text of a stranger as it may be shown: of bounded length, and with nothing in it that cannot be seen. */
export function shownText(text: string, maxChars = maxShownChars): string {
  const cut = text.length > maxChars ? `${text.slice(0, maxChars)}…` : text
  return cut.replace(invisible, (char) => (char === '\n' || char === '\t' ? char : '\u{fffd}'))
}
