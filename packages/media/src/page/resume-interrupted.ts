/// <reference lib="dom" />

/**
 * Has a context of the page go on when a call, a device that is gone or a computer that slept has interrupted it: the browser leaves that to the
 * page. What the page suspended itself stays so. Until the returned function is called.
 */
export function resumeInterrupted(context: AudioContext): () => void {
  let wasInterrupted = false
  const look = (): void => {
    const { state } = context
    const isInterrupted = state === 'interrupted'
    // At the end of an interruption a browser may say that it is suspended.
    if (isInterrupted || (wasInterrupted && state === 'suspended')) context.resume().catch(() => {})
    wasInterrupted = isInterrupted
  }
  context.addEventListener('statechange', look)
  look()
  return () => context.removeEventListener('statechange', look)
}
