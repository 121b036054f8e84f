import { connect } from 'node:net'
import { answerCalls } from '../child-calls.ts'

const sockets = new Set<object>()

async function openOne(port: number, request: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(request))
    sockets.add(socket)
    socket.once('data', () => resolve())
    socket.on('error', reject)
    // What comes later is read and forgotten.
    socket.resume()
  })
}

const idleCalls = {
  /** Opens so many event streams, and keeps them. */
  async open(port: number, path: string, count: number): Promise<void> {
    const request = `GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n`
    for (let opened = 0; opened < count; opened += 100)
      await Promise.all(Array.from({ length: Math.min(100, count - opened) }, () => openOne(port, request)))
  },
}

export type IdleCalls = typeof idleCalls

answerCalls(idleCalls)
