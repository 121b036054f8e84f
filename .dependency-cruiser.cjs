// The arrows between the rooms (docs/ARCHITECTURE.md). A package imports only what its list names; nobody goes round in circles.
const arrows = {
  protocol: [],
  transport: ['protocol'],
  network: ['transport', 'protocol'],
  tracker: ['transport', 'protocol'],
  client: ['network', 'transport', 'protocol', 'contracts'],
  media: ['client', 'protocol'],
  browser: ['client'],
  explorer: ['client', 'protocol'],
  storage: ['client', 'network', 'protocol'],
  node: ['client', 'explorer', 'storage', 'tracker', 'network', 'transport', 'protocol', 'contracts'],
}
/** A package's core, and that of a room in it. */
const coreFolders = ['/src/core/', '/src/[^/]+/core/']
/** Data structures that cores may use: no I/O; tiny-lru reads the clock only when entries are to expire, which none are. */
const pureLibraries = ['node_modules/(flatqueue|tiny-lru)/']
const notProduction = '\\.(test|testkit)\\.ts$'
const folder = (name) => (name === 'contracts' ? 'contracts' : `packages/${name}`)
const rooms = [...Object.keys(arrows), 'contracts']

const arrowRules = Object.entries({ ...arrows, contracts: [] }).map(([room, allowed]) => ({
  name: `${room}-imports-only-${['itself', ...allowed].join('-')}`,
  severity: 'error',
  from: { path: `^${folder(room)}/`, pathNot: notProduction },
  to: {
    path: `^(${rooms
      .filter((other) => other !== room && !allowed.includes(other))
      .map(folder)
      .join('|')})/`,
  },
}))

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    ...arrowRules,
    {
      name: 'nothing-imports-bench',
      severity: 'error',
      // scripts/ makes the page of its errors.
      from: { pathNot: '^(bench|scripts)/' },
      to: { path: '^bench/' },
    },
    {
      name: 'nothing-imports-sim',
      severity: 'error',
      // Emulated and simulated networks leave the same records; scripts/ makes pages about everything.
      from: { pathNot: '^(sim|emulation|scripts)/' },
      // Benchmarks are named and drawn as experiments are.
      to: { path: '^sim/', pathNot: '^sim/src/(cli/command-line|figures/)' },
    },
    {
      name: 'nothing-imports-emulation',
      severity: 'error',
      from: { pathNot: '^(emulation|scripts)/' },
      to: { path: '^emulation/' },
    },
    {
      name: 'sim-imports-only-network-tracker-transport-protocol',
      severity: 'error',
      from: { path: '^sim/', pathNot: '^sim/src/world/sealed/' },
      to: {
        path: '^(packages/(client|storage|node)|contracts|bench)/',
        pathNot: '^packages/node/src/cli/option-words',
      },
    },
    {
      name: 'sealed-streams-of-sim-import-also-encryption-of-client',
      severity: 'error',
      from: { path: '^sim/src/world/sealed/' },
      to: {
        path: '^(packages/(client|storage|node)|contracts|bench)/',
        pathNot: '^packages/client/src/(encryption/|errors|registry/ports)',
      },
    },
    {
      name: 'no-circles',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'cores-import-only-protocol-and-cores',
      severity: 'error',
      from: { path: coreFolders, pathNot: notProduction },
      to: {
        pathNot: [...coreFolders, '/(limits|errors|ports)\\.ts$', '^packages/protocol/', ...pureLibraries],
      },
    },
    {
      name: 'production-imports-no-testkit',
      severity: 'error',
      // Benchmarks and simulations are no part of a product either.
      from: { path: '/src/', pathNot: [notProduction, '^(bench|sim|emulation)/'] },
      to: { path: notProduction },
    },
    {
      name: 'everything-resolves',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '(^|/)(dist|generated)/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.base.json' },
    enhancedResolveOptions: {
      conditionNames: ['runnel-src', 'import', 'node', 'default'],
      exportsFields: ['exports'],
      extensions: ['.ts', '.tsx', '.js', '.mjs', '.cjs', '.json'],
    },
  },
}
