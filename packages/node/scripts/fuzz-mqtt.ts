// Sends mutated packets to MQTT connections, and ends with an error when one does more than end its connection:
//   node --conditions=runnel-src packages/node/scripts/fuzz-mqtt.ts [PACKETS, default 1000000] [SEED]
import { fuzz } from '../src/gateway/mqtt/fuzz.testkit.ts'

const [packets = '1000000', seed = 'mqtt'] = process.argv.slice(2)
const report = await fuzz(Number(packets), seed)
process.stdout.write(`${JSON.stringify(report)}\n`)
process.exitCode = report.faults.length === 0 ? 0 : 1
