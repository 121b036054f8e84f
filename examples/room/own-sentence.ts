/** What is said where the browser has ended what was sent: nobody pressed the button here. */
export const endedSentence = {
  camera:
    'Your camera has stopped: it was disconnected, or this page may no longer use it. The others do not see you; turn it on again to be seen.',
  microphone:
    'Your microphone has stopped: it was disconnected, or this page may no longer use it. The others do not hear you; turn it on again to be heard.',
  screen: 'Your screen is no longer shared.',
} as const

/** What stands in one's own picture. `isTaken`: the browser gets no pictures from the camera. `obstacle`: what has no time or room for them. */
export function ownSentence({
  isTaken,
  obstacle,
}: {
  readonly isTaken: boolean
  readonly obstacle: string | undefined
}): string {
  if (isTaken) return 'You, not seen: another program has the camera, or it is switched off'
  return obstacle === undefined ? 'You' : `You, sound only: ${obstacle} for video now`
}
