import { isSoundOnly, type PictureState } from './picture-sentence.ts'

export const percent = (share: number): string => `${(100 * share).toFixed(1)} %`
export const milliseconds = (ms: number): string => `${ms.toFixed(0)} ms`

/** What is known of the round trips to the neighbours in a stream, one a neighbour; those in other streams, as in that of the recordings, do not count. */
export function roundTripsMs(
  streamParts: readonly {
    readonly streamPartId: string
    readonly neighbours: readonly { readonly nodeId: string; readonly rttMs?: number | undefined }[]
  }[],
  streamId: string,
): readonly (number | undefined)[] {
  const neighbours = streamParts
    .filter(({ streamPartId }) => streamPartId.startsWith(`${streamId}#`))
    .flatMap((part) => part.neighbours.map(({ nodeId, rttMs }) => [nodeId, rttMs] as const))
  return [...new Map(neighbours).values()]
}

/** A member's picture in figures: as it is played, unless there is only sound. */
export function pictureText(height: number | undefined, framesPerS: number, state: PictureState): string {
  if (isSoundOnly(state)) return 'sound only'
  return height === undefined ? 'none' : `${height}p, ${framesPerS.toFixed(0)}/s`
}

/** What the network carries here, in figures: of its counters, and of the round trips to its neighbours. Leaves out what there is nothing to say of. */
export function overallText(
  counters: Readonly<Record<string, number>>,
  rttsMs: readonly (number | undefined)[],
): string {
  if (rttsMs.length === 0) return 'No neighbours: nobody is linked to you.'
  const of = (name: string): number => counters[name] ?? 0
  const known = rttsMs.filter((rttMs) => rttMs !== undefined)
  const received = of('urgent.messages') - of('urgent.published')
  const late = of('urgent.late') + of('urgent.truncated')
  const handled = received + of('urgent.duplicates') + of('urgent.forwarded') + late
  const excess = of('urgent.overShare')
  const meanMs = known.reduce((sum, rttMs) => sum + rttMs, 0) / Math.max(1, known.length)
  const roundTrip = known.length === 0 ? '' : `, ${milliseconds(meanMs)} round trip`
  const copies = (received + of('urgent.duplicates')) / received
  const parts = [
    `${rttsMs.length} ${rttsMs.length === 1 ? 'neighbour' : 'neighbours'}${roundTrip}`,
    ...(received > 0 ? [`${copies.toFixed(2)} copies of each message received`] : []),
    ...(handled > 0 ? [`${percent(late / handled)} of all copies dropped because they were late`] : []),
    `${of('urgent.repeated')} packets sent again because links lost them`,
  ]
  const flood =
    excess === 0 ? '' : ` ${excess} messages dropped, because somebody sends more than one member may.`
  return `${parts.join('; ')}.${flood}`
}
