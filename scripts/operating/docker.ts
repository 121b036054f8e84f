// Does what `docker compose` does with a file, in namespaces, on the machine that machine.sh makes: where the tests run there is no Docker.
//   node docker.ts REPOSITORY compose -f FILE up -d
//   node docker.ts REPOSITORY compose -f FILE run --rm [--entrypoint PROGRAM] SERVICE ARGUMENT…
//   node docker.ts REPOSITORY compose -f FILE ps
// The machine has the files of deploy/Dockerfile's image (image.ts) among its own, and stands in for the base image. Prometheus is Debian's;
// Grafana is not to be had.
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { chownSync, existsSync, mkdirSync, openSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { mountsOf, networkOf, readCompose, type Mount, type Service } from './compose-file.ts'
import { containerScript, processWords, type Container } from './container.ts'
import { readDockerfile, type ImageConfig } from './dockerfile.ts'

const [repository = '', , , composeFile = '', verb = '', ...args] = process.argv.slice(2)
const file = resolve(composeFile)
const services = readCompose(file)
const state = '/var/lib/docker'
const [gateway, address] = ['172.18.0.1', '172.18.0.2']
const run = (program: string, words: string) => execFileSync(program, words.split(' '))

/** Undefined where there is no such program here. */
function imageOf({ image, build }: Service): ImageConfig | undefined {
  if (build !== undefined)
    return readDockerfile(join(dirname(file), build.context, build.dockerfile)).at(-1)?.config
  const none = { env: {}, command: [], healthcheck: [] }
  const prometheus = { ...none, user: 'prometheus', workingDirectory: '/', entrypoint: ['prometheus'] }
  return image.startsWith('prom/prometheus:') ? prometheus : undefined
}

function containerOf(service: Service, image: ImageConfig): Container {
  // Without the folder of what machine.sh stands in for.
  const path = { PATH: '/base:/usr/local/bin:/usr/bin:/bin', HOME: image.workingDirectory }
  const user = execFileSync('id', ['-u', image.user], { encoding: 'utf8' }).trim()
  const node = { source: process.execPath, target: '/base/node', readOnly: true }
  return {
    ...{ user, workingDirectory: image.workingDirectory, tmpfs: service.tmpfs, hidden: [repository] },
    isReadOnly: service.read_only,
    dropsCapabilities: service.cap_drop.length > 0,
    noNewPrivileges: service.security_opt.length > 0,
    env: { ...path, ...image.env, ...service.environment },
    mounts: [
      node,
      ...mountsOf(service, file).map((mount) => ({ ...mount, source: sourceOf(mount, Number(user)) })),
    ],
  }
}

/** Where a mount's files lie. A new volume belongs to whom the folder in the image belongs to. */
function sourceOf({ source, isVolume, target }: Mount, user: number): string {
  if (!isVolume) return source
  const volume = join(state, 'volumes', source)
  if (existsSync(volume)) return volume
  mkdirSync(volume, { recursive: true })
  // Prometheus keeps its data elsewhere in Debian.
  const owner = existsSync(target) ? statSync(target).uid : user
  chownSync(volume, owner, owner)
  return volume
}

const networkFile = (service: Service) => `/run/netns/${networkOf(service)[0] ?? service.name}`

/** Makes a network for a service that has one of its own, and publishes its ports. */
function makeNetwork({ name, network_mode: mode, ports }: Service): void {
  run('ip', `netns add ${name}`)
  run('ip', `-n ${name} link set lo up`)
  if (mode === 'none') return
  run('ip', `link add docker0 type veth peer name eth0 netns ${name}`)
  run('ip', `address add ${gateway}/24 dev docker0`)
  run('ip', `-n ${name} address add ${address}/24 dev eth0`)
  run('ip', 'link set docker0 up')
  run('ip', `-n ${name} link set eth0 up`)
  run('ip', `-n ${name} route add default via ${gateway}`)
  start('proxy', [process.execPath, join(import.meta.dirname, 'port-proxy.ts'), address, ...ports])
}

/** Runs on by itself, with its output in a log of its name. */
function start(name: string, [program = '', ...words]: readonly string[]): void {
  const log = openSync(`/var/log/${name}.log`, 'a')
  const child = spawn(program, words, { stdio: ['ignore', log, log], detached: true })
  child.unref()
  writeFileSync(join(state, name), `${child.pid}`)
}

/** What runs a command in a new container of a service. */
function containerWords(service: Service, image: ImageConfig, command: readonly string[]): string[] {
  const own = ['--mount', '--pid', '--ipc', '--uts', '--fork', '--kill-child']
  const script = containerScript(containerOf(service, image), command)
  return ['nsenter', `--net=${networkFile(service)}`, 'unshare', ...own, 'bash', '-c', script]
}

/** An entrypoint of the service's own leaves the image's command away. */
function commandOf(service: Service, image: ImageConfig): string[] {
  const { entrypoint = image.entrypoint, command = service.entrypoint ? [] : image.command } = service
  return [...entrypoint, ...command]
}

function up(): void {
  mkdirSync(state, { recursive: true })
  for (const service of services) {
    const image = imageOf(service)
    if (image === undefined) {
      process.stderr.write(`${service.name}: there is no ${service.image} here\n`)
      continue
    }
    if (networkOf(service).length === 0) makeNetwork(service)
    const words = containerWords(service, image, commandOf(service, image))
    const isWaitedFor = services.some(({ depends_on: needed }) => service.name in needed)
    if (isWaitedFor) execFileSync(words[0] ?? '', words.slice(1), { stdio: 'inherit' })
    else start(service.name, words)
  }
}

/** Runs a command, or the service's own, in a new container like that of a service. */
function runOnce(words: readonly string[]): void {
  const program = words[1] === '--entrypoint' ? words.slice(2, 3) : []
  const [name, ...given] = words.slice(1 + 2 * program.length)
  const service = services.find((candidate) => candidate.name === name)
  const image = service && imageOf(service)
  if (service === undefined || image === undefined) throw new Error(`there is no service ${name}`)
  const command = program.length > 0 ? [...program, ...given] : commandOf(service, image)
  const [first = '', ...rest] = containerWords(service, image, command)
  process.exitCode = spawnSync(first, rest, { stdio: 'inherit' }).status ?? 1
}

/** Says of each container that has a health check that it is well; fails where one is not. */
function ps(): void {
  for (const service of services) {
    const image = imageOf(service)
    if (image === undefined || image.healthcheck.length === 0 || service.healthcheck !== undefined) continue
    const parent = readFileSync(join(state, service.name), 'utf8')
    const pid = readFileSync(`/proc/${parent}/task/${parent}/children`, 'utf8').trim()
    const enter = ['-t', pid, '--mount', '--net', '--pid', '--root', '--wd']
    execFileSync('nsenter', [...enter, ...processWords(containerOf(service, image), image.healthcheck)])
    process.stdout.write(`${service.name} (healthy)\n`)
  }
}

if (verb === 'up') up()
else if (verb === 'run') runOnce(args)
else if (verb === 'ps') ps()
else throw new Error(`docker compose ${verb} is not known here`)
