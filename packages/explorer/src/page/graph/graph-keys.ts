import type { Direction } from './place-on-screen.ts'

/** What a key does to the picture of an overlay. */
export type KeyAction = Direction | 'open' | 'deselect' | 'larger' | 'smaller' | 'fit'

const actions: Readonly<Record<string, KeyAction>> = {
  ArrowLeft: 'left',
  ArrowRight: 'right',
  ArrowUp: 'up',
  ArrowDown: 'down',
  Enter: 'open',
  Escape: 'deselect',
  '+': 'larger',
  '=': 'larger',
  '-': 'smaller',
  '0': 'fit',
}

/** Undefined for what is not for the picture: with Ctrl, Command or Alt a key is the browser's. */
export function keyAction({
  key,
  ctrlKey,
  metaKey,
  altKey,
}: Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey' | 'altKey'>): KeyAction | undefined {
  if (ctrlKey || metaKey || altKey || !Object.hasOwn(actions, key)) return undefined
  return actions[key]
}
