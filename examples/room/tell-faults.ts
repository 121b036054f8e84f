import { failureText } from '../shared/page.ts'

const maxFaultsTold = 20

/** Tells faults of a session or its player with what they mean: each once, as some come again with every frame. */
export function tellFaults(
  source: { on(event: 'fault', listener: (error: unknown) => void): unknown },
  meaning: string,
  say: (sentence: string) => void,
): void {
  const told = new Set<string>()
  source.on('fault', (error) => {
    const text = failureText(error)
    if (told.size >= maxFaultsTold || told.has(text)) return
    told.add(text)
    say(`${meaning}: ${text}`)
  })
}
