import type { CommandModule } from 'yargs'
import { commandLine } from '@runnel/sim/command-line'
import { describe, expect, it } from 'vitest'
import { churn } from '../experiments/churn.ts'
import { delays } from '../experiments/delays.ts'
import { loss } from '../experiments/loss.ts'
import { firstCommands } from '../first/first-commands.ts'
import { mediaGlassCommand } from '../media/glass/media-glass-command.ts'
import { mediaLinkCommand } from '../media/link/media-link-command.ts'
import { mediaCommand } from '../media/room/media-command.ts'
import { natCommand } from '../nat/nat-command.ts'
import { sessionsCommand } from '../sessions/sessions-command.ts'
import { sessionsCostCommand } from '../sessions/sessions-cost-command.ts'
import { soakCommand } from '../soak/soak-command.ts'
import { experimentCommand } from './experiment-command.ts'
import { emulationError } from '../errors.ts'

/** What begins ends at once. */
const ended = AbortSignal.abort(new Error('it began'))
const commands = [
  ...firstCommands(ended),
  experimentCommand(churn, ended),
  experimentCommand(delays, ended),
  experimentCommand(loss, ended),
  mediaCommand(ended),
  mediaGlassCommand(ended),
  mediaLinkCommand(ended),
  natCommand(ended),
  sessionsCommand(ended),
  sessionsCostCommand(ended),
  soakCommand(ended),
] as CommandModule[]

async function run(words: string): Promise<void> {
  const refusal = (message: string) => emulationError('INVALID_ARGUMENT', message)
  const line = commandLine(words.split(' '), { name: 'emulate', usage: '', refusal })
  for (const command of commands) line.add(command)
  await line.run()
}

it.each([
  ...['churn --place loopback', 'first-message', 'first-frame', 'media', 'media-glass', 'media-link', 'nat'],
  ...['sessions --arms light-websocket', 'sessions-cost --held light-websocket=1', 'soak --no-tabs'],
])('refuses a folder that cannot be written before anything is measured: %s', async (line) => {
  await expect(run(`${line} --out /dev/null/folder`)).rejects.toMatchObject({ code: 'OUT_UNWRITABLE' })
})

it.each([
  ...[
    'churn',
    'first-message',
    'first-frame',
    'media',
    'media-glass',
    'media-link',
    'nat',
    'sessions',
    'soak',
  ],
  'sessions-cost --held headless=1',
])('only checks its arguments: %s', async (line) => {
  await run(`${line} --check --out /dev/null/folder`)
})

describe('refuses what says nothing, or twice', () => {
  it.each([
    ['first-message --arms websocket,websocket', 'more than once'],
    ['first-message --arms', '--arms needs a value'],
    ['first-message --arms=websocket,', '--arms is of websocket'],
    ['first-message --arms websocket --relay-delay 7', '--relay-delay is for'],
    ['loss --latency aws-lastmile --check', '--latency is aws, cities, or a file'],
    ['media --room 2.5', '--room is a whole number'],
    ['media --voices 1.5', '--voices is a whole number'],
    ['media --pictures 1.5', '--pictures is a whole number'],
    ['media --seed 0.5', '--seed is a whole number'],
    ['media --arms relay,relay', '--arms names one more than once'],
    ['media-glass --arms sfu,sfu --check', '--arms names one more than once'],
    ['media-glass --loss 1,1.0 --check', '--loss names one more than once'],
    ['media-link --arms ours,ours --check', '--arms names one more than once'],
    ['media-link --beside tcp,tcp --check', '--beside names one more than once'],
    ['media-link --delays 50,50 --check', '--delays names one more than once'],
    ['media-link --arms ladder --beside bulk --check', 'nothing is left'],
    ['media --voices 0 --pictures 0', '--voices 0 and --pictures 0'],
    ['media --seconds 2', '--seconds is from 3'],
    ['nat --pair elsewhere', '--pair is not "elsewhere", but one of "public", '],
    ['nat --pair --check', '--pair needs a value'],
    ['loss --place hosts --hosts file --floods full --loss 0', '--place hosts takes no --floods'],
    ['loss --place loopback --seed 2', '--place loopback takes no --seed'],
    ['loss --hosts file', '--place namespaces takes no --hosts'],
    ['delays --repeats 2', 'delays takes no --repeats'],
    ['nat --repeats 1 --repeats 2', '--repeats is given more than once'],
    ['sessions --listen 192.0.2.1 --check', '--listen is for --worker'],
    ['sessions-cost --held light-websocket=3,light-websocket=4 --check', 'more than once'],
    ['sessions-cost --held light-websocket=3 --machine-price Infinity --check', '--machine-price'],
  ])('%s', async (line, message) => {
    await expect(run(line)).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: expect.stringContaining(message) as string,
    })
  })
})

it.each([
  ['loss --place loopback --loss 0,1', 'only --loss 0'],
  ['churn --place namespaces --nodes 8,300', 'at most 255 nodes'],
  ['loss --place core --dilation 2', 'core cannot change its delays'],
  ['loss --place hosts --hosts file --loss 1', 'only --loss 0'],
  ['loss --place hosts --hosts file --loss 0', '--links'],
])('refuses what the place cannot: %s', async (line, message) => {
  await expect(run(`${line} --check`)).rejects.toMatchObject({
    code: 'PLACE_CANNOT',
    message: expect.stringContaining(message) as string,
  })
})
