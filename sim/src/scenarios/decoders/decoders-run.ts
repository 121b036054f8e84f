import {
  decodePacket,
  encodePacket,
  forEachPacket,
  isRunnelError,
  loadCrypto,
  seededRandom,
  type Packet,
} from '@runnel/protocol'
import { samplePackets } from '../../../../packages/protocol/src/messages/samples.testkit.ts'
import { mutatedFrame } from './mutations.ts'
import { boundsFault } from './result-bounds.ts'

export interface DecodersTask {
  readonly seed: number
  /** Mutated frames. */
  readonly frames: number
}

export interface DecodersReport {
  readonly seed: number
  readonly frames: number
  /** Packets that were taken apart. */
  readonly packets: number
  /** How often something was refused, by its code. */
  readonly refused: Readonly<Record<string, number>>
  /** What was neither a packet nor a coded error. */
  readonly faults: readonly DecoderFault[]
  /** The most that the process had in buffers, in bytes. */
  readonly mostBufferBytes: number
}

interface DecoderFault {
  readonly hex: string
  readonly what: string
}

const maxFaults = 10
const lookAtMemoryEvery = 5_000

/** Gives the decoders mutated frames of all kinds of packets: each is a packet, or a coded error, and no larger than it came. */
export async function runDecoders({ seed, frames }: DecodersTask): Promise<DecodersReport> {
  const crypto = await loadCrypto()
  const random = seededRandom(`decoders ${seed}`)
  const packets = samplePackets(crypto).map(({ packet }) => encodePacket(packet))
  const refused: Record<string, number> = {}
  const faults: DecoderFault[] = []
  const counts = { packets: 0 }
  let mostBufferBytes = 0
  for (let i = 0; i < frames && faults.length < maxFaults; i++) {
    const frame = mutatedFrame(packets, random)
    try {
      const fault = frameFault(frame, counts)
      if (fault !== undefined) faults.push({ hex: hexOf(frame), what: fault })
    } catch (error) {
      if (isRunnelError(error)) refused[error.code] = (refused[error.code] ?? 0) + 1
      else faults.push({ hex: hexOf(frame), what: String(error) })
    }
    if (i % lookAtMemoryEvery === 0)
      mostBufferBytes = Math.max(mostBufferBytes, process.memoryUsage().arrayBuffers)
  }
  return { seed, frames, packets: counts.packets, refused, faults, mostBufferBytes }
}

/** There is one encoding of everything: what is taken encodes to the bytes it came from. */
function frameFault(frame: Uint8Array, counts: { packets: number }): string | undefined {
  let fault: string | undefined
  forEachPacket(frame, (type, body, whole) => {
    const packet: Packet = decodePacket(type, body)
    counts.packets++
    fault ??= boundsFault(packet, whole)
    if (Buffer.compare(encodePacket(packet), whole) !== 0) fault ??= `${packet.type} has two encodings`
  })
  return fault
}

function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex')
}
