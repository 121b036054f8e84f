import type { MediaSession } from '@runnel/media/page'
import { failureText } from '../shared/page.ts'

const maxFaultsTold = 20

/** Says what could not be published: each fault once, as some come again with every frame. */
export function tellFaults(session: Pick<MediaSession, 'on'>, say: (sentence: string) => void): void {
  const told = new Set<string>()
  session.on('fault', (error) => {
    const text = failureText(error)
    if (told.size >= maxFaultsTold || told.has(text)) return
    told.add(text)
    say(`Others may not see or hear you: ${text}`)
  })
}
