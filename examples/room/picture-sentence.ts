import type { Track } from '@runnel/media/page'

/** Why there is no picture; empty where there is one. */
export function sentenceOf(
  tracks: readonly Track[],
  decodes: readonly string[],
  rendition: number,
  busy: { readonly here: boolean; readonly there: boolean },
  isPainted = true,
): string {
  const live = tracks.filter(({ state }) => state === 'live')
  if (tracks.length === 0 || tracks.every(({ state }) => state === 'muted')) return 'No camera'
  if (live.length === 0) {
    if (busy.there) return 'Sound only: their computer is too busy for video now'
    // What a busy reader does not get to take looks like a slow network to who sends.
    if (busy.here) return 'Sound only: your computer is too busy for video now'
    return 'Sound only: their network is too slow for video now'
  }
  if (rendition < 0)
    return `Sound only: your ${busy.here ? 'computer is too busy' : 'network is too slow'} for video now`
  if (!live.some(({ codec }) => decodes.includes(codec)))
    return 'This browser cannot show their video: no codec in common'
  if (!isPainted) return 'Waiting for their video …'
  return ''
}
