import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { afterEach, expect, it } from 'vitest'

const handOver = fileURLToPath(new URL('../../bin/hand-over.js', import.meta.url))
const program = fileURLToPath(new URL('stop-signal.testkit.ts', import.meta.url))
const passesOn = `
  const { handOver } = await import(process.argv[1])
  handOver(process.execPath, process.argv.slice(2))`
const groups: ChildProcess[] = []

afterEach(() => {
  for (const { pid, exitCode } of groups.splice(0))
    if (exitCode === null) process.kill(-Number(pid), 'SIGKILL')
})

/** A program behind so many processes that pass on their signals, all in a group of their own and without a terminal. */
function start(handOvers: number) {
  const run = ['--conditions=runnel-src', program]
  const again = ['--input-type=module', '--eval', passesOn, handOver]
  const args = Array.from({ length: handOvers }, () => again)
    .flat()
    .concat(run)
  const group = spawn(process.execPath, args, { detached: true, stdio: ['pipe', 'pipe', 'inherit'] })
  groups.push(group)
  let said = ''
  group.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()))
  return {
    signal: (name: NodeJS.Signals = 'SIGINT') => process.kill(-Number(group.pid), name),
    signalFirst: (name: NodeJS.Signals) => group.kill(name),
    said: async (text: string) => {
      while (!said.includes(text)) await once(group.stdout, 'data')
    },
    end: () => group.stdin.end(),
    ended: once(group, 'exit'),
  }
}

it.each([0, 1, 3])('of a signal to a whole group takes one, behind %i others', async (handOvers) => {
  const program = start(handOvers)
  await program.said('listening')
  program.signal()
  await program.said('a moment later')
  program.end()
  expect(await program.ended).toEqual([0, null])
})

it.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
  'takes a %s to the first alone, or to all',
  async (name) => {
    for (const signal of ['signalFirst', 'signal'] as const) {
      const program = start(2)
      await program.said('listening')
      program[signal](name)
      await program.said('a moment later')
      program.end()
      expect(await program.ended).toEqual([0, null])
    }
  },
)

it('ends at once at a second signal that comes later', async () => {
  const program = start(1)
  await program.said('listening')
  program.signal()
  await program.said('a moment later')
  program.signal()
  expect(await program.ended).toEqual([130, null])
})
