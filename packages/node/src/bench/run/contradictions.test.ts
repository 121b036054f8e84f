import { expect, it } from 'vitest'
import type { BenchArguments } from '../../commands/bench-options.ts'
import { argsWith } from './arguments.testkit.ts'
import { requireNoContradiction } from './contradictions.ts'

type Given = Partial<BenchArguments> & { readonly room?: number }

it.each<[Given, string]>([
  [{ key: 'my.key' }, '--key is for a network that runs: give --network'],
  [{ network: 'net.json', nodes: 5 }, '--nodes is for a network that the bench starts'],
  [{ network: 'net.json', nodes: 0 }, '--nodes'],
  [{ network: 'net.json', encrypt: true }, '--encrypt'],
  [{ worker: ['127.0.0.1:1'], processes: 2 }, '--processes'],
  [{ users: 'browser', links: 'webrtc' }, '--links is for --users light'],
  [{ users: 'process', floods: 'full' }, '--floods'],
  [{ network: 'net.json', gateway: 'http://127.0.0.1:1' }, '--gateway is for --users http or mqtt'],
  [{ room: 2, streams: 2 }, '--streams'],
  [{ csv: 'x', report: './x' }, '--csv and --report name the same file'],
])('refuses %j', (given, text) => {
  expect(() => requireNoContradiction(argsWith(given))).toThrow(
    expect.objectContaining({ code: 'USAGE', message: expect.stringContaining(text) }),
  )
})

it.each<Given>([
  {},
  { room: 5 },
  { worker: ['127.0.0.1:1'] },
  { network: 'net.json', key: 'my.key', stream: '/x' },
  { network: 'net.json', users: 'http', gateway: 'http://127.0.0.1:1' },
  { csv: 'x.csv', report: 'x.html', links: 'mixed', nodes: 3 },
])('takes %j', (given) => expect(requireNoContradiction(argsWith(given))).toBeUndefined())
