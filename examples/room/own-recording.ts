/** What this tab recorded last. */
export interface OwnRecording {
  /** What follows the path in the room's address: also the secret that its frames are sealed with. */
  readonly room: string
  readonly fromMs: number
  /** When it ended; while it is made, and where the page was gone before it could say so, when it will have ended if nothing more is said. */
  readonly toMs: number
  /** Whether somebody stopped it; otherwise it ended with the page that made it. */
  readonly isStopped: boolean
}

/** Where it is played. */
export function playbackLink({ room, fromMs, toMs }: OwnRecording): string {
  const { search, hash } = new URL(room, 'http://localhost/')
  const query = new URLSearchParams(search)
  query.set('from', String(fromMs))
  query.set('to', String(toMs))
  return `playback.html?${query.toString()}${hash}`
}
