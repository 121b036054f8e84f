import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { freePort } from '@runnel/transport'

const version = '5.0.6'
const tools = fileURLToPath(new URL('../../../../../.tools/cassandra', import.meta.url))
const jars = join(tools, version)

/** A real Cassandra of one node on 127.0.0.1. */
export interface CassandraServer {
  /** `host:port` of its CQL. */
  readonly contactPoint: string
  readonly localDataCenter: 'datacenter1'
  /** Ends it and deletes what it kept. */
  stop(): Promise<void>
}

/** Java 17 and Maven from the distribution, Cassandra and what it needs from Maven Central; once, into `.tools/`. */
function installCassandra(): void {
  const lacking = ['java', 'mvn'].some((command) => spawnSync(command, ['-version']).error !== undefined)
  if (lacking) {
    run('apt-get', ['update', '-qq'])
    run('apt-get', ['install', '-y', '-qq', '--no-install-recommends', 'openjdk-17-jre-headless', 'maven'])
  }
  if (existsSync(jars)) return
  mkdirSync(tools, { recursive: true })
  const fetched = mkdtempSync(join(tools, 'fetching-'))
  writeFileSync(
    join(fetched, 'pom.xml'),
    `<project><modelVersion>4.0.0</modelVersion><groupId>runnel</groupId><artifactId>cassandra</artifactId><version>1</version>
<dependencies><dependency><groupId>org.apache.cassandra</groupId><artifactId>cassandra-all</artifactId><version>${version}</version></dependency></dependencies></project>`,
  )
  const arguments_ = ['-q', '-B', '-f', join(fetched, 'pom.xml'), 'dependency:copy-dependencies']
  run('mvn', [...arguments_, `-DoutputDirectory=${join(fetched, 'lib')}`])
  renameSync(join(fetched, 'lib'), jars)
  rmSync(fetched, { recursive: true })
}

/** Starts a fresh node; it answers when this resolves, some six seconds later. Rejects with what it wrote when it ends instead. */
export async function startCassandra(): Promise<CassandraServer> {
  installCassandra()
  const directory = mkdtempSync(join(tmpdir(), 'runnel-cassandra-'))
  const [cqlPort, storagePort] = [await freePort(), await freePort()]
  const configuration = join(directory, 'conf')
  mkdirSync(configuration)
  writeFileSync(join(configuration, 'cassandra.yaml'), yaml(directory, cqlPort, storagePort))
  writeFileSync(join(configuration, 'logback.xml'), logback)
  const server = spawn('java', javaArguments(directory), { stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = once(server, 'exit')
  try {
    await ready(server, cqlPort)
  } catch (error) {
    server.kill('SIGKILL')
    rmSync(directory, { recursive: true })
    throw error
  }
  return {
    contactPoint: `127.0.0.1:${cqlPort}`,
    localDataCenter: 'datacenter1',
    async stop() {
      // Its data are thrown away: there is nothing to be gained by an orderly end, which takes seconds.
      server.kill('SIGKILL')
      await ended
      rmSync(directory, { recursive: true })
    },
  }
}

/** Waits until the port of CQL is open, which is the last thing a node does when it starts. */
function ready(server: ChildProcess, port: number): Promise<void> {
  const lines: string[] = []
  for (const stream of [server.stdout, server.stderr]) {
    if (stream) createInterface(stream).on('line', (line) => lines.push(line) > 100 && lines.shift())
  }
  return new Promise((resolve, reject) => {
    const knock = () => {
      const socket = connect(port, '127.0.0.1', () => {
        socket.destroy()
        resolve()
      })
      socket.once('error', () => (timer = setTimeout(knock, 100)))
    }
    let timer = setTimeout(knock, 100)
    server.once('error', reject)
    server.once('exit', (code) => {
      clearTimeout(timer)
      reject(new Error(`Cassandra ended with ${code} before it was ready:\n${lines.join('\n')}`))
    })
  })
}

function run(command: string, args: readonly string[]): void {
  const { status, error, stderr, stdout } = spawnSync(command, args, { encoding: 'utf8' })
  if (status === 0) return
  throw new Error(`${command} ${args.join(' ')} failed: ${error?.message ?? `${stdout}\n${stderr}`}`)
}

const exported = {
  'java.base': ['jdk.internal.misc', 'jdk.internal.ref', 'jdk.internal.util', 'sun.nio.ch', 'java.lang.ref'],
  'java.management.rmi': ['com.sun.jmx.remote.internal.rmi'],
  'java.rmi': ['sun.rmi.registry', 'sun.rmi.server', 'sun.rmi.transport.tcp'],
  'java.sql': ['java.sql'],
  'jdk.unsupported': ['sun.misc'],
}
const opened = {
  'java.base': [
    ...[
      'java.lang',
      'java.lang.module',
      'java.io',
      'java.nio',
      'java.net',
      'java.util',
      'java.util.concurrent',
    ],
    ...['java.util.concurrent.atomic', 'jdk.internal.loader', 'jdk.internal.ref', 'jdk.internal.reflect'],
    ...[
      'jdk.internal.math',
      'jdk.internal.module',
      'jdk.internal.util.jar',
      'jdk.internal.misc',
      'sun.nio.ch',
    ],
  ],
  'jdk.management': ['com.sun.management.internal'],
}

/** What `bin/cassandra` and `conf/jvm17-server.options` of the distribution say, as far as one small node needs it. */
function javaArguments(directory: string): string[] {
  const access = (flag: string, modules: Readonly<Record<string, readonly string[]>>) =>
    Object.entries(modules).flatMap(([module, names]) =>
      names.map((name) => `--${flag}=${module}/${name}=ALL-UNNAMED`),
    )
  return [
    ...['-Xms256M', '-Xmx384M', '-XX:+UseSerialGC', '-XX:-UsePerfData'],
    ...access('add-exports', exported),
    ...access('add-opens', opened),
    `-javaagent:${join(jars, 'jamm-0.4.0.jar')}`,
    ...['-Djava.security.manager=allow', '-Djdk.attach.allowAttachSelf=true'],
    `-Dcassandra.config=file://${join(directory, 'conf/cassandra.yaml')}`,
    `-Dcassandra.storagedir=${directory}`,
    ...['-Dcassandra.jmx.local.port=0', '-Dcassandra.skip_wait_for_gossip_to_settle=0'],
    // Nothing is to survive the process: tables are made several times as fast where each change of the schema is not flushed.
    '-Dcassandra.unsafesystem=true',
    ...['-Dcassandra.ring_delay_ms=2000', '-Dcassandra.superuser_setup_delay_ms=0'],
    // Where its libraries unpack native code.
    `-Djava.io.tmpdir=${directory}`,
    ...['-cp', `${join(directory, 'conf')}:${jars}/*`, 'org.apache.cassandra.service.CassandraDaemon'],
  ]
}

function yaml(directory: string, cqlPort: number, storagePort: number): string {
  return `cluster_name: runnel
num_tokens: 16
partitioner: org.apache.cassandra.dht.Murmur3Partitioner
endpoint_snitch: SimpleSnitch
commitlog_sync: group
commitlog_sync_group_window: 2ms
seed_provider:
  - class_name: org.apache.cassandra.locator.SimpleSeedProvider
    parameters: [{ seeds: '127.0.0.1:${storagePort}' }]
listen_address: 127.0.0.1
rpc_address: 127.0.0.1
storage_port: ${storagePort}
native_transport_port: ${cqlPort}
data_file_directories: ['${directory}/data']
commitlog_directory: ${directory}/commitlog
saved_caches_directory: ${directory}/saved_caches
hints_directory: ${directory}/hints
cdc_raw_directory: ${directory}/cdc_raw
auto_snapshot: false
`
}

const logback = `<configuration>
  <appender name="out" class="ch.qos.logback.core.ConsoleAppender"><encoder><pattern>%level %msg%n</pattern></encoder></appender>
  <root level="INFO"><appender-ref ref="out"/></root>
</configuration>
`
