// Which programs that are not npm packages each task needs. Plain JavaScript that an old Node can run, too.

const python = 'python3 with venv'
const emulated = ['C compiler', 'ip']
const network = [...emulated, 'nft', 'turnserver']

/** What the tests of these folders need; all others need Node alone. */
export const testNeeds = {
  aws: [python],
  'bench/src/encryption': ['chromium'],
  emulation: [...network, python, 'vpxenc', 'chromium', 'janus'],
  examples: ['chromium'],
  'packages/browser': ['chromium', 'firefox'],
  'packages/explorer': ['chromium'],
  'packages/media': ['chromium'],
  'packages/node': ['openssl'],
  'packages/node/src/gateway': ['curl', 'chromium', 'openssl'],
  'packages/node/src/gateway/mqtt': ['mosquitto_pub', python],
  'packages/node/src/second': [python],
  'packages/protocol/src/second': [python],
  'packages/tracker': ['openssl'],
  'scripts/operating': ['openssl', 'ip', 'nginx', 'curl', 'systemd-analyze', 'prometheus'],
  'scripts/packages': ['chromium', 'arm64 emulation'],
  'scripts/pages': [...emulated, 'chromium', 'curl', 'jq', 'mosquitto_pub'],
}

const benchNeeds = {
  browser: ['chromium'],
  encryption: ['chromium'],
  mqtt: ['mosquitto'],
  tabs: ['chromium'],
}

const taskNeeds = {
  aws: () => [python],
  bench: ([name]) => benchNeeds[name] ?? [],
  emulate: (args) => {
    if (args[0] === 'nat') return network
    if (args[0]?.startsWith('sessions')) return ['chromium', 'Xvfb']
    if (args[0] === 'media-glass') return [...emulated, 'chromium', 'janus']
    if (args[0]?.startsWith('media')) return [...emulated, 'vpxenc']
    return /--place[= ](loopback|hosts|core)/.test(args.join(' ')) ? [] : emulated
  },
  lint: () => [python],
  screenshot: () => ['chromium'],
  test: (args, testFiles) => {
    const folders = args[0] === 'aws' ? ['aws'] : foldersOf(args, testFiles)
    return [...new Set(folders.flatMap((folder) => testNeeds[folder]))]
  },
}

/**
 * The names of the programs that a task needs. For `test` the arguments are what vitest takes: options, and parts of the
 * paths of test files; where no file is meant, all are.
 */
export function programsFor(task, args, testFiles) {
  // Who reads what there is runs nothing yet.
  if (args.includes('--help')) return []
  return taskNeeds[task]?.(args, testFiles) ?? []
}

/** These run from the sources, so that their help needs nothing built. */
const tasksWithHelp = ['aws', 'bench', 'emulate', 'example', 'sim', 'test']

/** What must be built before a task runs: all packages, only the bundle of the program, or nothing. */
export function buildFor(task, args) {
  if (args.includes('--help') && tasksWithHelp.includes(task)) return 'nothing'
  return ['start', 'example'].includes(task) ? 'bundle' : 'packages'
}

function foldersOf(args, testFiles) {
  const parts = args.filter((arg) => !arg.startsWith('-')).map((arg) => arg.replace(/^\.\//, ''))
  const meant = testFiles.filter((file) => parts.some((part) => file.includes(part)))
  const folders = Object.keys(testNeeds)
  if (meant.length === 0) return folders
  return folders.filter((folder) => meant.some((file) => file.startsWith(`${folder}/`)))
}
