import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ensurePython } from '../../../../protocol/src/second/python.testkit.ts'
import { MqttNetwork, type Gateway } from './mqtt-network.testkit.ts'

/** Subscribes at one gateway, publishes at another, and prints what came. */
const program = `
import json, sys, threading
import paho.mqtt.client as mqtt
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties

key, here, there, version, transport = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]), sys.argv[5]
received, done, subscribed = [], threading.Event(), threading.Event()

def connect(port):
    client = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2, protocol=version, transport=transport)
    client.username_pw_set('owner', key)
    client.connect('127.0.0.1', port)
    return client

def on_message(client, userdata, message):
    properties = dict(getattr(message.properties, 'UserProperty', []))
    received.append([message.topic, message.payload.decode(), message.qos, properties])
    if len(received) == 20: done.set()

subscriber = connect(there)
subscriber.on_message = on_message
subscriber.on_subscribe = lambda *args: subscribed.set()
subscriber.subscribe('sensors/#', qos=1)
subscriber.loop_start()
assert subscribed.wait(30)
publisher = connect(here)
publisher.loop_start()
properties = None
if version == mqtt.MQTTv5:
    properties = Properties(PacketTypes.PUBLISH)
    properties.UserProperty = ('unit', 'C')
for i in range(20):
    publisher.publish('sensors/kitchen', str(i), qos=1, properties=properties).wait_for_publish(30)
assert done.wait(30)
print(json.dumps(received))
publisher.disconnect(); subscriber.disconnect()
`

describe('Eclipse Paho in Python', { timeout: 60_000 }, () => {
  const network = new MqttNetwork()
  let gateways: readonly Gateway[] = []
  let python: string

  beforeAll(async () => {
    python = ensurePython()
    await network.start([{ path: 'sensors/kitchen' }])
    gateways = [
      await network.gateway({ mqtt: { websocketPort: 0 } }),
      await network.gateway({ mqtt: { websocketPort: 0 } }),
    ]
  }, 600_000)
  afterAll(() => network.stop())

  it.each([
    [4, 'tcp'],
    [5, 'tcp'],
    [5, 'websockets'],
  ] as const)(
    'with version %d over %s passes messages on between two gateways',
    async (version, transport) => {
      const ports = gateways.map(({ port, websocketPort }) => `${transport === 'tcp' ? port : websocketPort}`)
      const args = ['-c', program, network.apiKey, ...ports, `${version}`, transport]
      const { stdout } = await promisify(execFile)(python, args)
      const properties = version === 5 ? { unit: 'C' } : {}
      const expected = Array.from({ length: 20 }, (_, i) => ['sensors/kitchen', `${i}`, 1, properties])
      expect(JSON.parse(stdout)).toEqual(expected)
    },
  )
})
