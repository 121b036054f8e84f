import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { nodeError } from '../errors.ts'

/** The address of the control API and the token it asks for. */
export interface ControlOptions {
  /** Path of a Unix socket, which only the user of this process can open. Goes before host and port. */
  readonly socket?: string | undefined
  readonly host: string
  readonly port: number
  /** File with the token that every request has to show. */
  readonly tokenFile?: string | undefined
}

export const defaultControlPort = 7172

/** Shorter tokens can be guessed. */
const minTokenChars = 16

/** The token, if one is configured. Throws CONFIG_INVALID when the API would be open to strangers, or FILE_UNREADABLE. */
export function controlToken({ socket, host, tokenFile }: ControlOptions): string | undefined {
  if (tokenFile !== undefined) return readToken(tokenFile)
  if (socket !== undefined || isLoopback(host)) return undefined
  throw nodeError('CONFIG_INVALID', `control on ${host} needs a token file: anybody could stop this process`)
}

/** Whether only processes of this machine reach an address. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))
}

function readToken(path: string): string {
  let text: string
  try {
    text = readFileSync(path, 'utf8').trim()
  } catch (cause) {
    throw nodeError('FILE_UNREADABLE', path, { cause })
  }
  if (text.length >= minTokenChars && /^[\x21-\x7e]+$/.test(text)) return text
  throw nodeError('CONFIG_INVALID', `${path} holds no token of ${minTokenChars} or more printable characters`)
}
