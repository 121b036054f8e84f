import { useEffect, useLayoutEffect, useState } from 'preact/hooks'
import { readTrackers, type TrackerState } from './api/trackers.ts'
import { Header } from './parts/header.tsx'
import { Notice } from './parts/notice.tsx'
import { parseRoute, type Route } from './route.ts'
import { useTheme } from './theme.ts'
import { usePolled, type Polled } from './use-polled.ts'
import { NodeView } from './views/node-view.tsx'
import { NodesView } from './views/nodes-view.tsx'
import { PartView } from './views/part-view.tsx'
import { StreamsView } from './views/streams-view.tsx'
import { TrackersView } from './views/trackers-view.tsx'

/** How often the trackers are asked how they are. */
const trackersEveryMs = 5_000

const titles: Readonly<Record<Route['view'], string>> = {
  streams: 'Streams',
  nodes: 'Nodes',
  trackers: 'Trackers',
  node: 'Node',
  part: 'Overlay',
  unknown: 'Not found',
}

/** The explorer of the network of the tracker at `home`. */
export function App({ home }: { readonly home: string }) {
  const route = useRoute()
  const theme = useTheme()
  const trackers = usePolled(home, trackersEveryMs, (signal) => readTrackers(home, signal))
  useEffect(() => {
    document.title = `${titles[route.view]} · Runnel explorer`
  }, [route.view])
  return (
    <>
      <a class="skip" href="#main" onClick={skip}>
        Skip to the content
      </a>
      <Header route={route} theme={theme} trackers={trackers} />
      <main id="main" tabIndex={-1}>
        <Notice failure={trackers.failure} readAtMs={trackers.value && trackers.readAtMs} />
        <View route={route} trackers={trackers} home={home} theme={theme.theme} />
      </main>
    </>
  )
}

interface ViewProps {
  readonly route: Route
  readonly trackers: Polled<TrackerState[]>
  readonly home: string
  readonly theme: 'light' | 'dark'
}

function View({ route, trackers, home, theme }: ViewProps) {
  const bases = answering(trackers.value)
  switch (route.view) {
    case 'streams':
      return <StreamsView bases={bases} trackers={trackers.value} search={route.search} />
    case 'nodes':
      return <NodesView bases={bases} search={route.search} />
    case 'trackers':
      return <TrackersView trackers={trackers} />
    case 'node':
      return <NodeView bases={bases} nodeId={route.nodeId} />
    case 'part':
      return <PartView key={route.partId} {...{ route, bases, home, theme }} trackers={trackers.value} />
    case 'unknown':
      return (
        <section class="page">
          <h1>There is no such page</h1>
          <p>
            The address does not name a stream part, a node or a list.{' '}
            <a href="#/streams">Show all streams</a>
          </p>
        </section>
      )
  }
}

/** The trackers worth asking; undefined until they are known. */
function answering(trackers: readonly TrackerState[] | undefined): readonly string[] | undefined {
  return trackers?.filter(({ health }) => health !== undefined).map(({ base }) => base)
}

/** The address is not changed: its `#` says where in the explorer we are. */
function skip(event: Event): void {
  event.preventDefault()
  document.getElementById('main')?.focus()
}

function useRoute(): Route {
  const [route, setRoute] = useState(() => parseRoute(location.hash))
  // Before anything is painted: whoever follows a link at first sight is heard.
  useLayoutEffect(() => {
    const follow = () => setRoute(parseRoute(location.hash))
    addEventListener('hashchange', follow)
    return () => removeEventListener('hashchange', follow)
  }, [])
  return route
}
