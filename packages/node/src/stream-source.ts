import type { RegistryService } from '@runnel/client'
import { overlayChoiceIn } from '@runnel/protocol'
import type { StreamSource } from '@runnel/tracker'

/** Which streams there are, and what their owners have chosen: the field `overlay` of a stream's metadata. */
export function streamSource(service: RegistryService): StreamSource {
  return {
    factsOf: async (streamId) => {
      const stream = await service.cache.getStream(streamId)
      return stream && { overlay: overlayChoiceIn(stream.metadata) }
    },
    onChange: (listener) => {
      const before = service.onChange
      service.onChange = (change) => {
        before(change)
        if (change.kind === 'stream') listener(change.streamId)
        else if (change.kind === 'unknown') listener(undefined)
      }
      return () => (service.onChange = before)
    },
  }
}
