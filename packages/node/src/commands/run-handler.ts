import { spawn } from 'node:child_process'
import { printableContent } from '../cli/message-fields.ts'

/** A program that answers a request is ended after this. */
const maxHandlerMs = 30_000
/** Bytes that it may print. */
const maxOutputBytes = 1024 * 1024

/**
 * Runs a program for one request, without a shell: content goes in as JSON, and what it prints comes out, as JSON or else as text; undefined
 * where it prints nothing. Rejects where it cannot be run or fails, without what it said: the asker is told.
 */
export async function runHandler(
  [program = '', ...args]: readonly string[],
  content: unknown,
  publisherId: string,
): Promise<unknown> {
  const child = spawn(program, args, {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, RUNNEL_PUBLISHER: publisherId },
  })
  const end = () => {
    child.kill('SIGKILL')
    // Another program, which this one has started, may keep it open.
    child.stdout.destroy()
  }
  const timer = setTimeout(end, maxHandlerMs)
  // A program need not read what is asked.
  child.stdin.on('error', () => {})
  child.stdin.end(`${JSON.stringify(printableContent(content))}\n`)
  const chunks: Buffer[] = []
  let bytes = 0
  child.stdout.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes > maxOutputBytes) end()
    else chunks.push(chunk)
  })
  await new Promise<void>((resolve, reject) => {
    child.on('error', () => reject(new Error('the program of the responder cannot be run')))
    child.on('close', (code) => {
      if (code === 0) resolve()
      else reject(new Error(`the program of the responder ended with ${code ?? 'a signal'}`))
    })
  }).finally(() => clearTimeout(timer))
  const text = Buffer.concat(chunks).toString('utf8').trimEnd()
  if (text === '') return undefined
  try {
    return JSON.parse(text) as unknown
  } catch {
    return text
  }
}
