import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { createInterface } from 'node:readline'
import type { DataChannel } from 'node-datachannel'
import { PeerConnection, setSctpSettings } from 'node-datachannel'
import { LadderRate } from '../ladder-rate.ts'
import type { PeerTask } from '../peer-record.ts'
import { headerOf, withHeader, type ReceiverEvents, type SenderWay } from './way.ts'

/** What the association holds itself, so that what waits can be seen. */
const sendBufferBytes = 64 * 1024
const bulkBytes = 16 * 1024
const bulkQueuedBytes = 64 * 1024

interface Signal {
  readonly description?: { readonly sdp: string; readonly type: string }
  readonly candidate?: { readonly candidate: string; readonly mid: string }
}

/** Pictures in a data channel that sends nothing again, and the other content in one that does: both behind one window of SCTP. */
export async function sendBySctp({ address, port, clips }: PeerTask): Promise<SenderWay> {
  const socket = connect(port, address)
  await once(socket, 'connect')
  const connection = connectionOver(socket)
  const pictures = connection.createDataChannel('pictures', { unordered: true, maxRetransmits: 0 })
  const bulk = connection.createDataChannel('bulk')
  await Promise.all([pictures, bulk].map(opened))
  const ladder = new LadderRate(clips.map(({ kbitPerS }) => kbitPerS))
  return {
    kbitPerS: (nowMs) => ladder.next(pictures.bufferedAmount(), nowMs),
    send: (picture) => void pictures.sendMessageBinary(withHeader(picture)),
    startBulk() {
      const content = new Uint8Array(bulkBytes)
      const fill = (): void => {
        while (bulk.bufferedAmount() < bulkQueuedBytes) bulk.sendMessageBinary(content)
      }
      bulk.setBufferedAmountLowThreshold(bulkQueuedBytes / 2)
      bulk.onBufferedAmountLow(fill)
      fill()
    },
  }
}

/** Resolves when it can be connected to. */
export async function receiveBySctp({ address, port }: PeerTask, events: ReceiverEvents): Promise<void> {
  const channels: DataChannel[] = []
  const server = createServer((socket) => {
    connectionOver(socket).onDataChannel((channel) => {
      // One that nobody refers to is closed.
      channels.push(channel)
      const isPictures = channel.getLabel() === 'pictures'
      channel.onMessage((message) => {
        if (!(message instanceof Uint8Array)) return
        if (!isPictures) return events.onBulk(message.length)
        const { number, rendition } = headerOf(message)
        events.onPicture(number, rendition)
      })
    })
  })
  server.listen(port, address)
  await once(server, 'listening')
}

function connectionOver(socket: Socket): PeerConnection {
  setSctpSettings({ sendBufferSize: sendBufferBytes })
  const connection = new PeerConnection('peer', { iceServers: [] })
  const tell = (signal: Signal): void => void socket.write(`${JSON.stringify(signal)}\n`)
  connection.onLocalDescription((sdp, type) => tell({ description: { sdp, type } }))
  connection.onLocalCandidate((candidate, mid) => tell({ candidate: { candidate, mid } }))
  createInterface({ input: socket }).on('line', (line) => {
    const { description, candidate } = JSON.parse(line) as Signal
    if (description !== undefined)
      connection.setRemoteDescription(description.sdp, description.type as 'offer' | 'answer')
    if (candidate !== undefined) connection.addRemoteCandidate(candidate.candidate, candidate.mid)
  })
  return connection
}

const opened = (channel: DataChannel): Promise<void> => new Promise((resolve) => channel.onOpen(resolve))
