type PlaybackKey = 'toggle' | 'back' | 'forward' | 'slower' | 'faster'

const keys: Readonly<Record<string, PlaybackKey>> = {
  ' ': 'toggle',
  ArrowLeft: 'back',
  ArrowRight: 'forward',
  '-': 'slower',
  '+': 'faster',
}

/** What a key does in the playback. With Ctrl, Alt or ⌘ it is the browser's: it zooms, or goes to another page. */
export function playbackKey({
  key,
  ctrlKey,
  altKey,
  metaKey,
}: Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'altKey' | 'metaKey'>): PlaybackKey | undefined {
  return ctrlKey || altKey || metaKey ? undefined : keys[key]
}
