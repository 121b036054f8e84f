import type { RegistryService } from '@runnel/client'
import type { TrackerRegistryView } from '@runnel/tracker'

/** What a tracker has to know of other trackers, as the registries of its network say. Those nobody can connect to are left out. */
export function trackerRegistryView({ cache, directory }: RegistryService): TrackerRegistryView {
  return {
    get trackers() {
      return directory.trackers
    },
    onChange: (listener) => directory.onChange(listener),
    ownTrackers: async (streamId) => (await cache.getStream(streamId))?.trackers ?? [],
  }
}
