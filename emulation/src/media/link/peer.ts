/** One end of a line, as a process: sends pictures as its arm says, or writes down when they came. Its argument is a `PeerTask`. */
import { readFileSync, writeFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { once } from 'node:events'
import { clipFrames } from '../clip/ivf-file.ts'
import type { LinkPicture, PeerNews, PeerRecord, PeerTask } from './peer-record.ts'
import { receiveByRunnel, sendByRunnel } from './ways/runnel-way.ts'
import { receiveBySctp, sendBySctp } from './ways/sctp-way.ts'
import { receiveByUdp, sendByUdp } from './ways/udp-way.ts'

const task = JSON.parse(process.argv[2] ?? '') as PeerTask
const ways = {
  ladder: { send: sendByUdp, receive: receiveByUdp },
  window: { send: sendBySctp, receive: receiveBySctp },
  ours: { send: sendByRunnel, receive: receiveByRunnel },
} as const
const { send, receive } = ways[task.arm]

const stop = new AbortController()
for (const event of ['disconnect', 'SIGTERM'] as const) process.once(event, () => stop.abort())
const stopped = new Promise<void>((resolve) =>
  stop.signal.addEventListener('abort', () => resolve(), { once: true }),
)
const nowUs = (): number => Number(process.hrtime.bigint() / 1_000n)
const pictures: LinkPicture[] = []
const beside: { atUs: number; bytes: number }[] = []
let startUs = 0

/** Packets that find nobody are of no use, and TCP asks again. */
const tcpPort = task.port + 1
const tcpBytes = 64 * 1024

async function sendAll(): Promise<void> {
  const way = await send(task)
  const clips = task.clips.map(({ file }) => clipFrames(readFileSync(file)))
  startUs = nowUs()
  process.send?.({ startUs } satisfies PeerNews)
  if (task.beside === 'bulk') way.startBulk()
  if (task.beside === 'tcp') startTcp()
  const everyUs = 1_000_000 / task.picturesPerS
  let rendition = -1
  for (let number = 0; !stop.signal.aborted; number++) {
    const lateUs = startUs + number * everyUs - nowUs()
    if (lateUs > 0) await new Promise((resolve) => setTimeout(resolve, lateUs / 1_000))
    const at = number % task.pictures
    const kbitPerS = way.kbitPerS(nowUs() / 1_000)
    // Only with a picture that needs no other can it change to another rendition.
    const isKey = clips[0]?.[at]?.isKey === true
    if (isKey)
      rendition =
        kbitPerS === 0
          ? -1
          : Math.max(
              0,
              task.clips.findLastIndex((one) => one.kbitPerS <= kbitPerS),
            )
    const frame = clips[rendition]?.[at]
    if (frame === undefined) continue
    pictures.push({ number, rendition, atUs: nowUs() })
    way.send({ number, rendition, ...frame })
  }
}

function startTcp(): void {
  const socket = connect(tcpPort, task.address)
  const content = new Uint8Array(tcpBytes)
  const fill = (): void => {
    while (!socket.destroyed && socket.write(content));
  }
  socket.on('drain', fill).on('error', () => {})
  fill()
}

async function receiveAll(): Promise<void> {
  const onBulk = (bytes: number): void => void beside.push({ atUs: nowUs(), bytes })
  await receive(task, {
    onPicture: (number, rendition) => void pictures.push({ number, rendition, atUs: nowUs() }),
    onBulk,
  })
  const server = createServer((socket) => {
    socket.on('data', ({ length }) => onBulk(length)).on('error', () => {})
  })
  server.listen(tcpPort, task.address)
  await once(server, 'listening')
}

if (task.role === 'receiver') await receiveAll()
else void sendAll()
process.send?.('ready')
await stopped
writeFileSync(task.recordFile, JSON.stringify({ startUs, pictures, beside } satisfies PeerRecord))
process.exit()
