import { packetBytes } from '@runnel/protocol'
import { expect, it } from 'vitest'
import { openLink, type PairOptions, type TransportPair } from './transport-pair.testkit.ts'

/** Packet types of the owner. */
const [lossy, reliable] = [0x10, 0x11]
const sizes = [1, 100, 1_000, 4_000, 5_000, 20_000]

/** What every transport does with packets that may be lost, where nothing is: they come, each once. */
export function describeLossy(make: (options?: PairOptions) => Promise<TransportPair>): void {
  it('brings packets that may be lost, of any size and both ways, and the others in order meanwhile', async () => {
    const pair = await make()
    const [a, b] = await openLink(pair)
    const rounds = 20
    for (const [from, to] of [
      [a, b],
      [b, a],
    ] as const) {
      // A lane may open in the meantime: what is sent before goes by the channel.
      for (let round = 0; round < rounds; round++) {
        for (const size of sizes) from.connection.send(packetBytes(lossy, numbered(round, size)), 'mayLose')
        from.connection.send(packetBytes(reliable, numbered(round, 1)))
        await pair.settle(to.count((round + 1) * (sizes.length + 1)))
      }
      const of = (type: number) => to.packets.filter((packet) => packet.type === type)
      expect(of(reliable).map(({ body }) => body[0])).toEqual(Array.from({ length: rounds }, (_, i) => i))
      for (let round = 0; round < rounds; round++) {
        const came = of(lossy).filter(({ body }) => body[0] === round)
        expect(came.map(({ body }) => body.length).sort((x, y) => x - y)).toEqual(sizes)
      }
    }
  })
}

function numbered(value: number, size: number): Uint8Array {
  return new Uint8Array(size).fill(value)
}
