import { useLayoutEffect, useState } from 'preact/hooks'
import type { TrackerState } from '../api/trackers.ts'
import { maxSearchChars, searchTarget, type Route } from '../route.ts'
import type { ThemeChoice, useTheme } from '../theme.ts'
import type { Polled } from '../use-polled.ts'

export interface HeaderProps {
  readonly route: Route
  readonly theme: ReturnType<typeof useTheme>
  readonly trackers: Polled<TrackerState[]>
}

const tabs = [
  { href: '#/streams', label: 'Streams', views: ['streams', 'part'] },
  { href: '#/nodes', label: 'Nodes', views: ['nodes', 'node'] },
  { href: '#/trackers', label: 'Trackers', views: ['trackers'] },
]

const themes: Readonly<
  Record<ThemeChoice, { readonly label: string; readonly next: ThemeChoice; readonly icon: string }>
> = {
  system: { label: 'like the system', next: 'light', icon: 'M8 2a6 6 0 1 0 0 12ZM8 2a6 6 0 1 1 0 12' },
  light: {
    label: 'light',
    next: 'dark',
    icon: 'M8 5a3 3 0 1 0 0 6 3 3 0 0 0 0-6ZM8 .8v1.6M8 13.6v1.6M.8 8h1.6M13.6 8h1.6M2.9 2.9 4 4M12 12l1.1 1.1M13.1 2.9 12 4M4 12l-1.1 1.1',
  },
  dark: { label: 'dark', next: 'system', icon: 'M13.5 9.6A6 6 0 1 1 6.4 2.5a4.8 4.8 0 0 0 7.1 7.1Z' },
}

export function Header({ route, theme, trackers }: HeaderProps) {
  const { label, next, icon } = themes[theme.choice]
  return (
    <header class="top">
      <a class="brand" href="#/streams">
        <img src="icon.svg" alt="" width="26" height="26" />
        <span>Runnel</span>
      </a>
      <nav aria-label="Main">
        {tabs.map(({ href, label: tab, views }) => (
          <a key={href} href={href} aria-current={views.includes(route.view) ? 'page' : undefined}>
            {tab}
          </a>
        ))}
      </nav>
      <Search initial={'search' in route ? route.search : ''} />
      <NetworkState trackers={trackers} />
      <button
        type="button"
        class="icon"
        aria-label={`Colours: ${label}. Change to ${themes[next].label}`}
        title={`Colours: ${label}`}
        onClick={() => theme.choose(next)}
      >
        <svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
          <path
            d={icon}
            fill={theme.choice === 'system' ? 'currentColor' : 'none'}
            fill-opacity={theme.choice === 'system' ? 0.35 : 1}
            stroke="currentColor"
            stroke-width="1.4"
            stroke-linecap="round"
          />
        </svg>
      </button>
    </header>
  )
}

function Search({ initial }: { readonly initial: string }) {
  const [text, setText] = useState(initial)
  // Before anything is typed into it on the new page.
  useLayoutEffect(() => setText(initial), [initial])
  const submit = (event: Event) => {
    event.preventDefault()
    location.hash = searchTarget(text)
  }
  return (
    <form class="search" role="search" onSubmit={submit}>
      <input
        type="search"
        value={text}
        maxLength={maxSearchChars}
        placeholder="Find a stream or a node"
        aria-label="Find a stream by a part of its id, or a node by the start of its id"
        spellcheck={false}
        autocomplete="off"
        autocapitalize="off"
        onInput={({ currentTarget }) => setText(currentTarget.value)}
      />
    </form>
  )
}

function NetworkState({ trackers: { value, failure } }: { readonly trackers: Polled<TrackerState[]> }) {
  const well = value?.filter(({ health }) => health !== undefined).length ?? 0
  const all = value?.length ?? 0
  const state = failure !== undefined ? 'bad' : well < all ? 'fair' : value === undefined ? 'unknown' : 'good'
  const words = {
    bad: 'No answer',
    fair: `${well} of ${all} trackers`,
    unknown: 'Connecting',
    good: all === 1 ? '1 tracker' : `${all} trackers`,
  }[state]
  return (
    <span role="status">
      <a class="state" href="#/trackers" data-state={state}>
        <span class="lamp" aria-hidden="true" />
        {words}
      </a>
    </span>
  )
}
