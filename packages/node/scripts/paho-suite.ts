// Runs Eclipse Paho's interoperability suite (https://github.com/eclipse/paho.mqtt.testing) against a gateway in a network of its own:
//   node --conditions=runnel-src packages/node/scripts/paho-suite.ts FOLDER/interoperability [NAME OF A TEST]
// FOLDER is a clone of the suite. Its clients log in with a key here, which they do not do by themselves; docs/guides/mqtt.md has the result.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { MqttNetwork } from '../src/gateway/mqtt/mqtt-network.testkit.ts'

const [folder, ...tests] = process.argv.slice(2)
if (folder === undefined) throw new Error('usage: paho-suite.ts FOLDER/interoperability [TEST]')

const topics = ['TopicA', 'TopicA/B', 'Topic/C', 'TopicA/C']
const paths = [...topics, ...[...topics, 'x'].map((topic) => `client_test5/${topic}`)]
const network = new MqttNetwork()
await network.start(paths.map((path) => ({ path, metadata: { lastValues: true } })))
const { port } = await network.gateway()

/** Has every client of the suite show the key, then runs a file of it as a program. */
const wrapper = `
import runpy, sys
import mqtt.clients.V311 as v311, mqtt.clients.V5 as v5
key, port = sys.argv.pop(1), int(sys.argv.pop(1))
def with_key(module):
    connect = module.Client.connect
    def connect_with_key(self, *args, **named):
        there = {'host': '127.0.0.1', 'port': port, 'username': 'owner', 'password': key.encode()}
        return connect(self, *args, **{**named, **there})
    module.Client.connect = connect_with_key
with_key(v311); with_key(v5)
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name='__main__')
`
for (const file of ['client_test.py', 'client_test5.py']) {
  const names = tests.map((name) => `Test.${name}`)
  const args = ['-B', '-c', wrapper, network.apiKey, `${port}`, file, ...names]
  const child = spawn('python3', args, { cwd: folder, stdio: 'inherit' })
  await once(child, 'close')
}
await network.stop()
