#!/usr/bin/env node
// The way in: `npm start`, `npm test`, `npm run bench` and `npm run sim` all come through here. Plain JavaScript, so that any Node from 18 on can run it.
// Puts a new enough Node first on the PATH, installs what is not installed, builds what is stale, then runs the task; says what it does on stderr.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { endSignals, exitCodeOf, handOver, spawnWithSignals } from '../packages/node/bin/hand-over.js'
import { isBundled, writeBuilt } from './bundled.mjs'
import { buildFor, programsFor } from './programs.mjs'
import { takeTurn } from './turn.mjs'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const pinnedNode = '24.21.0'
const env = { ...process.env }
// The command under way gets it, too; this process only waits until that has ended.
let endedBy
for (const signal of endSignals) process.on(signal, () => (endedBy ??= signal))
const say = (text) => process.stderr.write(`runnel: ${text}\n`)
const shellPid = process.ppid

/**
 * npm sends signals to a shell between, which ends and passes on none; SIGHUP and SIGKILL end npm alone. This process then ends as if it had
 * got a signal.
 */
function endWithNpm() {
  if (env.npm_lifecycle_event === undefined) return
  const npmPid = pidOfNpm()
  const watching = setInterval(() => {
    if (process.ppid === shellPid && (npmPid === undefined || parentOf(shellPid) === npmPid)) return
    clearInterval(watching)
    process.kill(process.pid, 'SIGTERM')
  }, 100).unref()
  // To a whole group it has come from the system.
  for (const signal of endSignals) process.once(signal, () => clearInterval(watching))
}

/** Undefined where there is no shell between, as it has become this process, or no /proc. */
function pidOfNpm() {
  const isNode = (pid) => readlinkSync(`/proc/${pid}/exe`) === env.npm_node_execpath
  try {
    const pid = parentOf(shellPid)
    return !isNode(shellPid) && isNode(pid) ? pid : undefined
  } catch {
    return undefined
  }
}

/** Undefined where the process has ended, or there is no /proc. */
function parentOf(pid) {
  try {
    return Number(/^PPid:\s*(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])
  } catch {
    return undefined
  }
}

/**
 * Runs a command with inherited streams (stdout to stderr unless `data`), and ends this process when it fails or a signal came meanwhile.
 * What is cuttable, as another run begins it anew, is then ended at once with all that it has started: npm would first take a minute or
 * two to undo its work, and leave the scripts of packages behind.
 */
async function run(command, args, { data = false, cwd = root, isCuttable = !data } = {}) {
  const stdio = ['inherit', data ? 'inherit' : 2, 'inherit']
  const detached = isCuttable && process.platform !== 'win32'
  const child = spawnWithSignals(command, args, { cwd, env, stdio, detached })
  const status = await new Promise((resolve) => {
    child.on('error', (error) => {
      say(`${command}: ${error.message}`)
      resolve(1)
    })
    child.on('exit', (code, signal) => resolve(code ?? exitCodeOf(signal)))
  })
  if (endedBy || status !== 0) process.exit(endedBy ? exitCodeOf(endedBy) : status)
}

/** Does what a stamp says is done, and stamps it at the end: what was cut short is not taken for whole. */
async function stamped(file, text, work) {
  rmSync(file, { force: true })
  await work()
  writeFileSync(file, text)
}

const tools = join(root, '.tools')
const nodePackage = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`
/** With its links, which npm makes when everything is there. */
const nodeBin = join(tools, 'node_modules', '.bin')
const isNodeFetched = () => existsSync(join(nodeBin, 'node'))

function isNodeNewEnough() {
  const [major, minor] = process.versions.node.split('.').map(Number)
  return major > 22 || (major === 22 && minor >= 18)
}

async function ensureNode() {
  if (isNodeNewEnough()) return
  keepNpmConfig()
  if (!isNodeFetched()) {
    say(
      `Node ${process.versions.node} is older than 22.18: fetching Node ${pinnedNode} from npm into .tools/`,
    )
    // npm takes a package that it unpacked in part for whole.
    rmSync(join(tools, 'node_modules'), { recursive: true, force: true })
    await run('npm', [
      'install',
      '--silent',
      '--no-audit',
      '--no-fund',
      '--prefix',
      tools,
      `${nodePackage}@${pinnedNode}`,
    ])
  }
  env.PATH = nodeBin + delimiter + env.PATH
  // Add-ons compiled during the install must see the headers of the Node that will load them.
  env.npm_config_nodedir = join(tools, 'node_modules', nodePackage)
}

/**
 * The machine's own settings of npm, such as its registry and the certificates it trusts, lie beside the Node that npm came with:
 * under another Node, npm would look for them beside that one. npm itself says where they are to what it runs.
 */
function keepNpmConfig() {
  if (env.npm_config_globalconfig !== undefined) return
  const { stdout } = spawnSync('npm', ['config', 'get', 'globalconfig'], {
    cwd: root,
    env,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const path = (stdout ?? '').trim()
  if (path !== '') env.npm_config_globalconfig = path
}

const lock = createHash('sha256')
  .update(readFileSync(join(root, 'package-lock.json')))
  .digest('hex')
const lockStamp = join(root, 'node_modules', '.runnel-lock')
const isInstalled = () => existsSync(lockStamp) && readFileSync(lockStamp, 'utf8') === lock

async function ensureInstalled() {
  if (isInstalled()) return
  say('installing dependencies (npm ci): up to a minute')
  await stamped(lockStamp, lock, () => run('npm', ['ci', '--no-audit', '--no-fund', '--loglevel', 'error']))
}

/** What Debian calls the programs that tests and experiments use, and how to tell that one is there. */
const programs = {
  openssl: { packages: ['openssl'], isThere: () => isOnPath('openssl') },
  chromium: {
    packages: ['chromium'],
    isThere: () => env.RUNNEL_CHROMIUM !== undefined || existsSync('/usr/bin/chromium'),
  },
  firefox: {
    packages: ['firefox-esr'],
    isThere: () => env.RUNNEL_FIREFOX !== undefined || existsSync('/usr/bin/firefox-esr'),
  },
  'C compiler': { packages: ['gcc', 'libc6-dev'], isThere: () => isOnPath('cc') },
  mosquitto: { packages: ['mosquitto'], isThere: () => isOnPath('mosquitto') },
  mosquitto_pub: { packages: ['mosquitto-clients'], isThere: () => isOnPath('mosquitto_pub') },
  nginx: { packages: ['nginx-light'], isThere: () => isOnPath('nginx') },
  prometheus: { packages: ['prometheus'], isThere: () => isOnPath('prometheus') && isOnPath('promtool') },
  curl: { packages: ['curl'], isThere: () => isOnPath('curl') },
  jq: { packages: ['jq'], isThere: () => isOnPath('jq') },
  'systemd-analyze': { packages: ['systemd'], isThere: () => isOnPath('systemd-analyze') },
  ip: { packages: ['iproute2'], isThere: () => isOnPath('ip') },
  Xvfb: { packages: ['xvfb'], isThere: () => isOnPath('Xvfb') },
  vpxenc: { packages: ['vpx-tools'], isThere: () => isOnPath('vpxenc') },
  nft: { packages: ['nftables'], isThere: () => isOnPath('nft') },
  turnserver: { packages: ['coturn'], isThere: () => isOnPath('turnserver') },
  janus: { packages: ['janus'], isThere: () => isOnPath('janus') },
  'arm64 emulation': {
    packages: ['qemu-user-static', 'libstdc++6-arm64-cross'],
    isThere: () => isOnPath('qemu-aarch64-static') && existsSync('/usr/aarch64-linux-gnu/lib/libstdc++.so.6'),
  },
  'python3 with venv': {
    packages: ['python3', 'python3-venv'],
    isThere: () => spawnSync('python3', ['-c', 'import ensurepip, venv']).status === 0,
  },
}

function isOnPath(command) {
  const path = `${env.PATH}${delimiter}/usr/sbin${delimiter}/sbin`
  return path.split(delimiter).some((directory) => existsSync(join(directory, command)))
}

/** The test files that vitest runs, as paths from here. */
function testFiles(folder = root) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return /^(\.|node_modules$|dist$)/.test(entry.name) ? [] : testFiles(path)
    return entry.name.endsWith('.test.ts') ? [relative(root, path).split(sep).join('/')] : []
  })
}

/** Says in one line what a task will install, before anything is. */
function announce(needed, missing) {
  const parts = [
    ...(isNodeNewEnough() || isNodeFetched() ? [] : [`Node ${pinnedNode} (npm, into .tools/)`]),
    ...(isInstalled() ? [] : ['the npm packages of package-lock.json']),
    ...(missing.length > 0 ? [`${debianPackages(missing).join(' ')} (apt-get)`] : []),
    ...(needed.includes('python3 with venv') && !existsSync(pinsStamp)
      ? ['Python packages (pip, into .tools/)']
      : []),
  ]
  if (parts.length > 0) say(`will install: ${parts.join('; ')}`)
}

const debianPackages = (names) => names.flatMap((name) => programs[name].packages)

/** Ends this process where it cannot: nothing is skipped for want of a program. */
async function installPrograms(names) {
  if (names.length === 0) return
  // It undoes nothing: what is cut short must be mended by hand.
  const options = { isCuttable: false }
  const apt = (...args) => run('env', ['DEBIAN_FRONTEND=noninteractive', 'apt-get', ...args], options)
  await apt('update', '-qq')
  await apt('install', '-y', '-qq', '--no-install-recommends', ...debianPackages(names))
}

const pythonHome = join(tools, 'python')
const pinsStamp = join(pythonHome, '.runnel-pins')

/** Makes the virtual environment for the Python of aws/, anew when the pins or the Python change; returns its interpreter. */
async function ensurePython() {
  const pins = ['requirements.txt', 'requirements-dev.txt'].map((name) => join(root, 'aws', name))
  const check = 'import sys; print(sys.executable, sys.version); sys.exit(sys.version_info < (3, 11))'
  const { status, stdout } = spawnSync('python3', ['-c', check], { env, encoding: 'utf8' })
  if (status !== 0) {
    say('aws/ needs python3, 3.11 or newer, on the PATH')
    process.exit(1)
  }
  const wanted = pins
    .reduce((hash, pin) => hash.update(readFileSync(pin)), createHash('sha256').update(stdout))
    .digest('hex')
  const python = join(pythonHome, 'bin', 'python')
  if (existsSync(pinsStamp) && readFileSync(pinsStamp, 'utf8') === wanted) return python
  say('installing the Python packages of aws/ into .tools/python')
  await stamped(pinsStamp, wanted, async () => {
    await run('python3', ['-m', 'venv', '--clear', pythonHome])
    await run(python, ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '-r', pins[1]])
  })
  return python
}

/** What `npm start` needs: nothing is compiled for that. */
async function bundle() {
  if (isBundled()) return
  say('bundling the program and the explorer: a few seconds')
  await run('node', ['scripts/bundle.mjs'])
}

async function build() {
  const compile = ['node_modules/typescript/bin/tsc', '-b']
  const { stdout } = spawnSync('node', [...compile, '--dry'], { cwd: root, env, encoding: 'utf8' })
  if (/would build/.test(stdout)) say('compiling the packages: about a minute the first time')
  await run('node', compile)
  await bundle()
}

/** Runs a command, and resolves with what it printed and whether it failed. */
function collect([command, args, { cwd = root } = {}]) {
  return new Promise((resolve) => {
    const child = spawnWithSignals(command, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
    const printed = []
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => printed.push(data))
    child.on('error', (error) => printed.push(Buffer.from(`${command}: ${error.message}\n`)))
    child.on('close', (status) => resolve({ text: Buffer.concat(printed), isOk: status === 0 }))
  })
}

/**
 * Runs lanes of commands side by side, those of a lane in their order: most use one core, and the tests of Python wait as long as they
 * compute. Prints what each has said when it ends, and ends this process if one failed or a signal came, after all have ended.
 */
async function runLanes(...lanes) {
  const results = await Promise.all(
    lanes.map(async (commands) => {
      let isOk = true
      for (const command of commands) {
        const result = await collect(command)
        process.stdout.write(result.text)
        if (endedBy) break
        isOk &&= result.isOk
      }
      return isOk
    }),
  )
  if (endedBy) process.exit(exitCodeOf(endedBy))
  if (results.includes(false)) process.exit(1)
}

const node = (...args) => run('node', args, { data: true })
const python = async (...args) => run(await ensurePython(), args, { data: true, cwd: join(root, 'aws') })

/** The checks of the code without its tests; `pytest` adds those of the Python. */
async function lint({ pytest = false } = {}) {
  const bin = (path, ...args) => ['node', [join('node_modules', path), ...args]]
  const [aws, second] = ['aws', 'packages/protocol/second'].map((path) => ({ cwd: join(root, path) }))
  const interpreter = await ensurePython()
  const mypy = [interpreter, ['-m', 'mypy', '--no-error-summary']]
  const workspaces = ['packages', 'contracts', 'bench', 'sim', 'emulation', 'examples', 'scripts']
  const cruise = ['--config', '.dependency-cruiser.cjs', ...workspaces]
  return runLanes(
    // Without a cache: what a rule finds in a file depends on the types of others.
    [
      [
        'node',
        ['--max-old-space-size=4096', 'node_modules/eslint/bin/eslint.js', '--max-warnings', '0', '.'],
      ],
    ],
    [
      [...mypy, aws],
      [...mypy, second],
      bin('prettier/bin/prettier.cjs', '--check', '--log-level', 'warn', '.'),
      bin('typescript/bin/tsc', '-p', 'tsconfig.check.json'),
      bin('typescript/bin/tsc', '-p', 'tsconfig.pages.json'),
      bin('dependency-cruiser/bin/dependency-cruiser.mjs', ...cruise),
      bin('knip/bin/knip.js'),
    ],
    pytest ? [[interpreter, ['-m', 'pytest', '-q'], aws]] : [],
  )
}

/** The last that a task does. */
const handOverSource = (path, args) =>
  handOver('node', ['--conditions=runnel-src', path, ...args], { env, cwd: root })

const tasks = {
  start: (args) =>
    handOver('node', [join(root, 'packages/node/bin/runnel.js'), 'up', ...args], {
      env,
      cwd: process.env.INIT_CWD ?? root,
    }),
  bench: (args) => handOverSource('bench/src/main.ts', args),
  sim: (args) => handOverSource('sim/src/main.ts', args),
  emulate: (args) => handOverSource('emulation/src/main.ts', args),
  build: async () => {
    await node('packages/browser/dist/bundle.js')
    await node('contracts/scripts/bundle-ethers.ts')
    writeBuilt()
  },
  example: (args) => handOverSource('examples/main.ts', args),
  screenshot: () => node('--conditions=runnel-src', 'scripts/explorer-screenshot.ts'),
  aws: async (args) =>
    handOver(await ensurePython(), ['-m', 'runnel_aws', ...args], {
      env: { ...env, PYTHONPATH: join(root, 'aws') },
      cwd: process.env.INIT_CWD ?? root,
    }),
  lint: () => lint(),
  test: async (args) => {
    if (args[0] === 'aws') return python('-m', 'pytest', ...args.slice(1))
    if (args.length === 0) await lint({ pytest: true })
    await node('node_modules/vitest/vitest.mjs', 'run', ...args)
  },
}

const [task, ...args] = process.argv.slice(2)
if (!Object.hasOwn(tasks, task)) {
  say(`usage: node scripts/run.mjs ${Object.keys(tasks).join('|')} [arguments]`)
  process.exit(64)
}
endWithNpm()
let waitedFor
const endTurn = await takeTurn(join(tools, 'preparing'), (pid) => {
  if (endedBy) process.exit(exitCodeOf(endedBy))
  if (pid !== waitedFor) say(`process ${pid} is installing or building in this folder: waiting for it`)
  waitedFor = pid
})
const needed = programsFor(task, args, task === 'test' ? testFiles() : [])
const missing = needed.filter((name) => !programs[name].isThere())
announce(needed, missing)
await ensureNode()
await ensureInstalled()
// Wrong arguments are told before anything is installed for them.
if (task === 'emulate' && missing.length > 0)
  await run('node', ['--conditions=runnel-src', 'emulation/src/main.ts', ...args, '--check'])
await installPrograms(missing)
const makers = { nothing: () => {}, bundle, packages: build }
await makers[buildFor(task, args)]()
// What a build makes is made in turn as well.
if (task !== 'build') endTurn()
await tasks[task](args)
