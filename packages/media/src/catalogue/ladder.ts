import type { Track, VideoTrack } from './catalogue.ts'

/** The renditions of each thing that a member shows, the lowest first. */
function ladders(tracks: readonly Track[]): VideoTrack[][] {
  const pictures = tracks.filter((track): track is VideoTrack => track.kind === 'video')
  const groups = Map.groupBy(pictures, ({ altGroup }) => altGroup)
  return [...groups.values()].map((group) => group.toSorted((a, b) => a.codedHeight - b.codedHeight))
}

/** The tracks of a member that a reader of this rendition (0 the lowest) takes from the network: up to it, so that it falls back at once. */
export function tracksRead(tracks: readonly Track[], rendition: number): VideoTrack[] {
  return ladders(tracks).flatMap((ladder) => ladder.slice(0, rendition + 1))
}

/** Those that it shows: of each thing the highest up to the rendition that is published now. */
export function tracksShown(tracks: readonly Track[], rendition: number): VideoTrack[] {
  return ladders(tracks).flatMap((ladder) => {
    const live = ladder.slice(0, rendition + 1).findLast(({ state }) => state === 'live')
    return live ?? []
  })
}
