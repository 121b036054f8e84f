import { useEffect, useLayoutEffect, useState } from 'preact/hooks'
import type { Theme } from './colours.ts'

export type ThemeChoice = 'system' | Theme

const storageKey = 'runnel-explorer-theme'

/** The theme of the page: the one chosen, else that of the system. */
export function useTheme(): {
  readonly theme: Theme
  readonly choice: ThemeChoice
  choose(choice: ThemeChoice): void
} {
  const [choice, setChoice] = useState(storedChoice)
  const [system, setSystem] = useState<Theme>(systemTheme)
  useEffect(() => {
    const query = matchMedia(darkQuery)
    const follow = () => setSystem(systemTheme())
    query.addEventListener('change', follow)
    return () => query.removeEventListener('change', follow)
  }, [])
  const theme = choice === 'system' ? system : choice
  // Runs before anything is painted, so that no frame shows in the other colours.
  useLayoutEffect(() => {
    document.documentElement.dataset['theme'] = theme
  }, [theme])
  const choose = (next: ThemeChoice) => {
    setChoice(next)
    storeChoice(next)
  }
  return { theme, choice, choose }
}

const darkQuery = '(prefers-color-scheme: dark)'

function systemTheme(): Theme {
  return matchMedia(darkQuery).matches ? 'dark' : 'light'
}

function storedChoice(): ThemeChoice {
  try {
    const stored = localStorage.getItem(storageKey)
    return stored === 'light' || stored === 'dark' ? stored : 'system'
  } catch {
    return 'system'
  }
}

/** Where storage is blocked the choice lasts as long as the page. */
function storeChoice(choice: ThemeChoice): void {
  try {
    localStorage.setItem(storageKey, choice)
  } catch {
    return
  }
}
