import type { Member } from '../session/member.ts'
import type { VideoTrack } from '../catalogue/catalogue.ts'
import type { KeyFrame } from './recording-note.ts'
import type { TimeLine, TimeRange } from './time-line.ts'

/** `count` moments spread evenly over a recording. */
export function thumbnailTimes({ fromMs, toMs }: TimeRange, count: number): number[] {
  return Array.from({ length: count }, (_, i) => Math.round(fromMs + ((i + 0.5) * (toMs - fromMs)) / count))
}

/** What stands for a moment: of what was shown then, a screen first, the key frame of the smallest rendition. */
export function thumbnailAt(
  timeLine: TimeLine,
  atMs: number,
): { readonly key: KeyFrame; readonly track: VideoTrack } | undefined {
  const shown = timeLine
    .membersAt(atMs)
    .flatMap((member) => smallestOf(member).map((track) => ({ member, track })))
  const screensFirst = shown.toSorted(
    (a, b) => Number(b.track.source === 'screen') - Number(a.track.source === 'screen'),
  )
  for (const { member, track } of screensFirst) {
    const key = timeLine.keyBefore(member.id, track.id, atMs)
    if (key !== undefined) return { key, track }
  }
  return undefined
}

function smallestOf({ catalogue }: Member): VideoTrack[] {
  const live = catalogue.tracks.filter(
    (track) => track.kind === 'video' && track.state === 'live',
  ) as VideoTrack[]
  const groups = Map.groupBy(live, ({ altGroup }) => altGroup)
  return [...groups.values()].flatMap((group) =>
    group.toSorted((a, b) => a.codedHeight - b.codedHeight).slice(0, 1),
  )
}
