import type { Track } from '@runnel/media/page'

/** What there is of a picture. Of one that is `paused` by who sends it, or `refused` here, there is only the sound. */
export type PictureState = 'none' | 'paused' | 'refused' | 'undecodable' | 'awaited' | 'shown'

/** `rendition`: the highest that is taken here; below 0 it is none. */
export function pictureState(
  tracks: readonly Track[],
  decodes: readonly string[],
  rendition: number,
  isPainted = true,
): PictureState {
  const live = tracks.filter(({ state }) => state === 'live')
  if (tracks.every(({ state }) => state === 'muted')) return 'none'
  if (live.length === 0) return 'paused'
  if (rendition < 0) return 'refused'
  if (!live.some(({ codec }) => decodes.includes(codec))) return 'undecodable'
  return isPainted ? 'shown' : 'awaited'
}

export const isSoundOnly = (state: PictureState): boolean => state === 'paused' || state === 'refused'

/** Why there is no picture; empty where there is one. */
export function sentenceOf(
  state: PictureState,
  busy: { readonly here: boolean; readonly there: boolean },
): string {
  switch (state) {
    case 'none':
      return 'No camera'
    case 'paused':
      if (busy.there) return 'Sound only: their computer is too busy for video now'
      // What a busy reader does not get to take looks like a slow network to who sends.
      if (busy.here) return 'Sound only: your computer is too busy for video now'
      return 'Sound only: their network is too slow for video now'
    case 'refused':
      return `Sound only: your ${busy.here ? 'computer is too busy' : 'network is too slow'} for video now`
    case 'undecodable':
      return 'This browser cannot show their video: no codec in common'
    case 'awaited':
      return 'Waiting for their video …'
    case 'shown':
      return ''
  }
}

/** The same of a moment of a recording: what there is of it is shown. */
export function recordedSentence(tracks: readonly Track[]): string {
  if (tracks.some(({ state }) => state === 'live')) return ''
  return tracks.some(({ state }) => state === 'paused') ? 'Sound only: their video paused' : 'No camera'
}
