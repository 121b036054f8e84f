import type { RegistryService } from '@runnel/client'
import type { TrackerRegistryView } from '@runnel/tracker'

/** What the registries of its network tell a tracker about other trackers. Unreachable ones are left out. */
export function trackerRegistryView({ cache, directory }: RegistryService): TrackerRegistryView {
  return {
    get trackers() {
      return directory.trackers
    },
    onChange: (listener) => directory.onChange(listener),
    ownTrackers: async (streamId) => (await cache.getStream(streamId))?.trackers ?? [],
  }
}
