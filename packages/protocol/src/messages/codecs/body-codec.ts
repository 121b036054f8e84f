import type { Reader } from '../../codec/reader.ts'
import type { Writer } from '../../codec/writer.ts'

/** Writes and reads the body of one kind of packet. `read` may leave bytes over: the packet codec refuses them. */
export interface BodyCodec<P> {
  write(writer: Writer, packet: P): void
  read(reader: Reader): P
}
