import { useEffect, useState } from 'preact/hooks'

/** How long it is said that something was copied. */
const saidForMs = 1_500

/** Copies a text; `what` names it for those who cannot see where the button stands. */
export function Copy({ text, what }: { readonly text: string; readonly what: string }) {
  const [outcome, setOutcome] = useState<'copied' | 'refused'>()
  useEffect(() => {
    if (outcome === undefined) return
    const timer = setTimeout(() => setOutcome(undefined), saidForMs)
    return () => clearTimeout(timer)
  }, [outcome])
  // Only pages from https or from this machine have one.
  const clipboard = (navigator as Partial<Navigator>).clipboard
  if (clipboard === undefined) return null
  const copy = () => {
    clipboard.writeText(text).then(
      () => setOutcome('copied'),
      () => setOutcome('refused'),
    )
  }
  const label =
    outcome === 'copied' ? 'Copied' : outcome === 'refused' ? 'Refused by the browser' : `Copy ${what}`
  return (
    <button type="button" class="copy" aria-label={label} title={label} onClick={copy}>
      <svg viewBox="0 0 16 16" width="14" height="14" aria-hidden="true">
        <path
          d={outcome === 'copied' ? 'M3 8.5 6.5 12 13 4.5' : 'M5.5 5.5h7v8h-7ZM10.5 3h-7v8'}
          fill="none"
          stroke="currentColor"
          stroke-width="1.4"
        />
      </svg>
      <span class="visually-hidden" aria-live="polite">
        {outcome === undefined ? '' : label}
      </span>
    </button>
  )
}
