/** What this tab recorded last. */
export interface OwnRecording {
  /** What follows the path in the room's address: also the secret that its frames are sealed with. */
  readonly room: string
  readonly fromMs: number
  /** Undefined while it is made, and where the page was gone before it could say so. */
  readonly toMs?: number | undefined
  /** Whether somebody stopped it; otherwise it ended with the page that made it. */
  readonly isStopped: boolean
}

/** Where it is played. */
export function playbackLink({ room, fromMs, toMs }: OwnRecording): string {
  const { search, hash } = new URL(room, 'http://localhost/')
  const query = new URLSearchParams(search)
  query.set('from', String(fromMs))
  if (toMs !== undefined) query.set('to', String(toMs))
  return `playback.html?${query.toString()}${hash}`
}
