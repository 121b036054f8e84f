// What threads of our packages begin with, by the name of what the bundle of the program has of it: scripts/bundle.mjs, strip-ahead.setup.ts.
export const threadEntries = {
  'node-verification-worker': 'packages/protocol/src/verification/node-verification-worker.ts',
  'sqlite-worker': 'packages/storage/src/store/sqlite/sqlite-worker.ts',
}
