import { toStreamId, type NodeId, type StreamId } from '@runnel/protocol'
import { measurementKinds, type MeasurementKind } from '../plugins/measurements/readings.ts'

/** Streams of a local network. */
export interface LocalStreams {
  readonly measurements: Readonly<Record<MeasurementKind, StreamId>>
  /** Everybody may publish and subscribe. */
  readonly lobby: StreamId
  /** Encrypted: the owner and the user may publish and subscribe. */
  readonly private: StreamId
}

/** Those of the network with this owner: the same at each start. */
export function localStreams(owner: NodeId): LocalStreams {
  const idOf = (path: string) => toStreamId(`${owner}/${path}`)
  const byKind = measurementKinds.map((kind) => [kind, idOf(`system/${kind}`)] as const)
  return {
    measurements: Object.fromEntries(byKind) as LocalStreams['measurements'],
    lobby: idOf('lobby'),
    private: idOf('private'),
  }
}
