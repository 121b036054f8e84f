import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ensurePython } from '../../../protocol/src/second/python.testkit.ts'
import { stopAll } from '../cli.testkit.ts'
import { GatewayNetwork, streamPath, type TestGateway } from './gateway.testkit.ts'

const timeoutMs = 300_000

/** Takes a few messages by credit, goes away while others are published, and goes on by a cursor. */
const overWebSocket = `
import json, sys
from websockets.sync.client import connect

url, stream = sys.argv[1:3]
contents = []

def ask(socket, **operation): socket.send(json.dumps(operation))

def say(socket, *ops):
    heard = {}
    while not set(ops) <= set(heard):
        said = json.loads(socket.recv(timeout=60))
        assert said['op'] != 'error', said
        heard[said['op']] = said
    return heard

def take(socket):
    while True:
        said = json.loads(socket.recv(timeout=60))
        if said['op'] == 'message':
            contents.append(said['message']['content'])
            return said['cursor']

def publish(socket, i):
    ask(socket, op='publish', id=i, stream=stream, content=i, wait='stored')
    return say(socket, 'published')['published']

with connect(url, subprotocols=['runnel.json.v1']) as reader, connect(url) as writer:
    assert reader.subprotocol == 'runnel.json.v1'
    ask(reader, op='subscribe', id=1, stream=stream, credit=1)
    say(reader, 'subscribed')
    for i in range(3): publish(writer, i)
    take(reader)
    ask(reader, op='credit', id=2, subscription=1, messages=1)
    cursor = take(reader)
    publish(writer, 3)
with connect(url) as reader:
    ask(reader, op='subscribe', id=1, stream=stream, cursor=cursor)
    for _ in range(2): take(reader)
print(json.dumps(contents))
`

/** Reads events, breaks off, and goes on after the last one, as the standard says (WHATWG HTML, 9.2). */
const overEvents = `
import json, sys, urllib.request

base, key = sys.argv[1:3]
headers = {'authorization': 'Bearer ' + key}
contents, last = [], None

def open_events():
    resume = {} if last is None else {'last-event-id': last}
    return urllib.request.urlopen(urllib.request.Request(base + '/events', headers={**headers, **resume}), timeout=60)

def publish(i):
    request = urllib.request.Request(base + '/messages?wait=stored', json.dumps(i).encode(), {**headers, 'content-type': 'application/json'})
    assert json.load(urllib.request.urlopen(request, timeout=60))['stored']

def take(events, count):
    global last
    until = len(contents) + count
    while len(contents) < until:
        name, _, value = events.readline().decode().rstrip('\\n').partition(': ')
        if name == 'id': last = value
        if name == 'data': contents.append(json.loads(value)['content'])

events = open_events()
for i in range(3): publish(i)
take(events, 2)
events.close()
for i in range(3, 6): publish(i)
events = open_events()
take(events, 4)
print(json.dumps(contents))
`

describe('a gateway and clients in Python', { timeout: timeoutMs }, () => {
  const network = new GatewayNetwork()
  let gateway: TestGateway
  let python: string

  beforeAll(async () => {
    python = ensurePython()
    await network.start()
    const all = { publish: ['/#'], subscribe: ['/#'] }
    gateway = await network.gateway({ all }, { httpGateway: { webSocket: true } })
  }, 600_000)

  afterAll(async () => {
    await stopAll()
    await network.stop()
  }, timeoutMs)

  async function run(program: string, ...args: readonly string[]): Promise<unknown> {
    const { stdout } = await promisify(execFile)(python, ['-c', program, ...args])
    return JSON.parse(stdout)
  }

  it('over WebSocket grant credit, and resume by a cursor', async () => {
    const stream = await network.newStream('websockets')
    const url = `${gateway.url.replace('http', 'ws')}/v1/ws?key=${gateway.keys['all']}`
    expect(await run(overWebSocket, url, stream)).toEqual([0, 1, 2, 3])
  })

  it('over server-sent events resume after the last one', async () => {
    const stream = await network.newStream('urllib')
    const base = `${gateway.url}${streamPath(stream, '')}`.replace(/\/$/, '')
    expect(await run(overEvents, base, gateway.keys['all'] ?? '')).toEqual([0, 1, 2, 3, 4, 5])
  })
})
