import type { RegistryService } from '@runnel/client'
import type { OverlayPolicy, StreamSource } from '@runnel/tracker'

const overlays: readonly OverlayPolicy[] = ['random', 'topology-aware']

/** Which streams there are, and what their owners have chosen: the field `overlay` of a stream's metadata. */
export function streamSource(service: RegistryService): StreamSource {
  return {
    factsOf: async (streamId) => {
      const stream = await service.cache.getStream(streamId)
      return stream && { overlay: overlayIn(stream.metadata) }
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

/** Undefined unless the metadata is a JSON object that names an overlay: whoever may edit the stream writes it. */
export function overlayIn(metadata: string): OverlayPolicy | undefined {
  let value: unknown
  try {
    value = JSON.parse(metadata)
  } catch {
    return undefined
  }
  const chosen = typeof value === 'object' && value !== null && 'overlay' in value ? value.overlay : undefined
  return overlays.find((overlay) => overlay === chosen)
}
