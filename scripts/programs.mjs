// Which programs that are not npm packages each task needs. Plain JavaScript that an old Node can run, too.

const python = 'python3 with venv'
const emulated = ['C compiler', 'ip']
const turn = ['turnserver', 'openssl']
const nat = ['ip', 'nft', ...turn]

/** What the tests of these folders need; all others need Node alone. */
export const testNeeds = {
  aws: [python],
  'bench/src/commands': ['chromium'],
  'bench/src/encryption': ['chromium'],
  'bench/src/mqtt': ['mosquitto'],
  'bench/src/playback': ['chromium'],
  'bench/src/speakers': ['chromium'],
  emulation: ['C compiler', ...nat, python, 'vpxenc', 'chromium', 'Xvfb', 'janus'],
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
  playback: ['chromium'],
  speakers: ['chromium'],
  tabs: ['chromium'],
}

const ofPlace = (args) => (/--place[= ](loopback|hosts|core)/.test(args.join(' ')) ? [] : emulated)

/** Browsers, unless only light users are named; light users on several machines are in namespaces. */
function sessionNeeds(args) {
  const text = args.join(' ')
  const [, kinds = 'browser'] = /--(?:arms|held)[= ](\S+)/.exec(text) ?? []
  return [
    ...(/browser|headless/.test(kinds) ? ['chromium'] : []),
    ...(/browser/.test(kinds) ? ['Xvfb'] : []),
    ...(/--machines[= ]/.test(text) ? ['ip'] : []),
  ]
}

/** By experiment, given all arguments. */
const emulateNeeds = {
  churn: ofPlace,
  delays: ofPlace,
  'first-frame': () => [...emulated, ...turn, 'vpxenc'],
  'first-message': () => [...emulated, ...turn],
  loss: ofPlace,
  media: () => [...emulated, 'vpxenc'],
  'media-glass': () => [...emulated, 'chromium', 'janus'],
  'media-link': () => [...emulated, 'vpxenc'],
  nat: () => nat,
  propagation: ofPlace,
  redundancy: ofPlace,
  sessions: sessionNeeds,
  'sessions-cost': sessionNeeds,
  soak: (args) => (args.includes('--no-tabs') ? [] : ['chromium']),
}

const flags = ['--check', '--fixed', '--json', '--no-tabs', '--tabs']

/** The benchmark or experiment that is meant: options, with their values, may come before it, and so may `profile`. */
function nameIn(args) {
  const isValue = (before) => before?.startsWith('-') && !before.includes('=') && !flags.includes(before)
  return args.find((arg, i) => !arg.startsWith('-') && arg !== 'profile' && !isValue(args[i - 1]))
}

const taskNeeds = {
  aws: () => [python],
  bench: (args) => benchNeeds[nameIn(args)] ?? [],
  emulate: (args) => emulateNeeds[nameIn(args)]?.(args) ?? [],
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
  // Who reads what there is, or has arguments checked, runs nothing yet.
  if (args.includes('--help') || (task === 'emulate' && args.includes('--check'))) return []
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
