import { text } from 'node:stream/consumers'
import { nodeError } from '../errors.ts'
import { readTextFile } from './tls-files.ts'

/** The text of a file; without one, standard input to its end, or at a terminal a hidden line. Throws FILE_UNREADABLE. */
export async function readSecretInput(file: string | undefined, question: string): Promise<string> {
  if (file !== undefined) return readTextFile(file)
  return process.stdin.isTTY ? askHidden(question) : text(process.stdin)
}

/**
 * The password in a file, without the end of its line; without a file, what is answered at the terminal. Throws FILE_UNREADABLE
 * or PASSWORD_REQUIRED.
 */
export async function readPassword(file: string | undefined): Promise<string> {
  if (file !== undefined) return readTextFile(file).replace(/\r?\n$/, '')
  if (!process.stdin.isTTY) throw nodeError('PASSWORD_REQUIRED')
  return askHidden('Password of the keystore')
}

/** Standard output is for results. */
async function askHidden(message: string): Promise<string> {
  const { password } = await import('@inquirer/prompts')
  return password({ message }, { output: process.stderr })
}
