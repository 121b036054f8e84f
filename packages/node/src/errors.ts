import { errorFactory, type ErrorTable } from '@runnel/protocol'

/** Error codes of `@runnel/node`: the broker and the command line. */
export const nodeErrors = {
  USAGE: { summary: 'Wrong command line', remedy: 'See: runnel --help.' },
  CONFIG_NOT_FOUND: {
    summary: 'No such configuration file',
    remedy: 'Check the path, or write one with: runnel node init.',
  },
  CONFIG_INVALID: {
    summary: 'The configuration is wrong',
    remedy: 'Correct the named setting; the README of @runnel/node lists all of them.',
  },
  PLUGIN_NOT_FOUND: {
    summary: 'There is no such plugin package',
    remedy:
      'Install it with npm in the directory the node starts from, or correct its name in the setting plugins.',
  },
  PLUGIN_INVALID: {
    summary: 'The package is not a plugin for this node',
    remedy:
      'Use a package made as a plugin for this version of Runnel; the README of @runnel/node describes them.',
  },
  NETWORK_NOT_CONFIGURED: {
    summary: 'No network configured',
    remedy:
      'Give --network FILE or RUNNEL_NETWORK; in the folder where runnel up runs, its .runnel/up/network.json is used.',
  },
  NETWORK_OWNER_MISSING: {
    summary: 'The URL does not say who signs the network’s document',
    remedy: 'Put the owner’s address behind it, as runnel network init prints it: https://…#0xowner.',
  },
  CHAIN_NOT_CONFIGURED: {
    summary: 'This command needs a network with a chain',
    remedy: 'Give a network file with a "chain" section, or --rpc-url and the registry addresses.',
  },
  NETWORK_NOT_PRIVATE: {
    summary: 'The network is open to every node',
    remedy:
      'Only a private network lists nodes: deploy its registries with runnel registry deploy --permissioned.',
  },
  MQTT_SESSIONS_UNAVAILABLE: {
    summary: 'The file of MQTT sessions cannot be used',
    remedy:
      'Give each node a directory of its own (mqtt.directory) that it may write to. A damaged file can be moved away: clients then begin new sessions.',
  },
  KEY_REQUIRED: {
    summary: 'This command needs a private key',
    remedy:
      'Make one with: runnel key new FILE, and give it with --key FILE, RUNNEL_KEY or RUNNEL_PRIVATE_KEY.',
  },
  DELEGATION_INVALID: {
    summary: 'Not a delegation',
    remedy: 'Give what runnel key delegate --to printed, all of it: 0x and hexadecimal digits.',
  },
  MNEMONIC_INVALID: {
    summary: 'The mnemonic is wrong',
    remedy: 'Check its words and their order: 12, 15, 18, 21 or 24 English words (BIP-39).',
  },
  KEYSTORE_INVALID: {
    summary: 'The keystore cannot be read',
    remedy: 'Give a JSON keystore of version 3 (Web3 Secret Storage), as geth and wallets write them.',
  },
  KEYSTORE_PASSWORD_WRONG: {
    summary: 'The password does not open the keystore',
    remedy: 'Give the password that the keystore was made with.',
  },
  PASSWORD_REQUIRED: {
    summary: 'The keystore needs a password',
    remedy: 'Give it in a file with --password-file FILE, or run the command in a terminal, where it asks.',
  },
  FILE_UNREADABLE: { summary: 'A file cannot be read', remedy: 'Check the path and its permissions.' },
  FILE_UNWRITABLE: {
    summary: 'A file cannot be written',
    remedy: 'Check that its directory exists, that you may write there, and that the disk has space left.',
  },
  DISK_FULL: {
    summary: 'There is no space left on the disk',
    remedy: 'Free some space (df -h shows where), or use another directory.',
  },
  CLOCK_WRONG: {
    summary: 'The clock of this machine is wrong',
    remedy: 'Set it, and keep it right: timedatectl set-ntp true, or what this system has for that.',
  },
  CHAIN_NOT_DEVELOPMENT: {
    summary: 'The chain is no development chain',
    remedy:
      'Only a chain with id 31337 has accounts whose keys everybody knows; on others send from an account of yours.',
  },
  FILE_EXISTS: {
    summary: 'The file exists already',
    remedy: 'Choose another name, or give --force to replace it.',
  },
  INPUT_INVALID: {
    summary: 'Bad input data',
    remedy:
      'Correct what the message names. On the command line: one JSON value a line, or --text for plain text; --skip-invalid skips such lines.',
  },
  NO_LAST_VALUE: {
    summary: 'Nobody knows a message of it',
    remedy:
      'Nothing was published under it, or its key was removed; or it is longer ago than nodes keep it: have the stream say "lastValues": true in its metadata, or a storage node keep it.',
  },
  NO_SUCH_READER: {
    summary: 'No storage node has a cursor of this durable reader of the user',
    remedy:
      'Check its name, the stream, and whose key or delegation it is; it begins with subscribe --reader NAME, or reader reset NAME --create.',
  },
  HOST_UNREACHABLE: {
    summary: 'None of the nodes given with --via could be reached, or none serves guests',
    remedy: 'Check their URLs, and that they run with --guests-serve (in a configuration file guests.serve).',
  },
  TRACKER_UNREACHABLE: {
    summary: 'No tracker of the network could be reached',
    remedy: 'Check that the trackers of the network run and that their registered addresses are right.',
  },
  STORAGE_UNREACHABLE: {
    summary: 'The storage node does not answer over HTTP',
    remedy:
      'Give the address that it logs when it starts (http.host, http.port); storage.enabled must be set.',
  },
  INSUFFICIENT_FUNDS: {
    summary: 'The account of the key cannot pay for the transaction',
    remedy: 'Send it some of the chain’s currency, or give the key of an account that has some.',
  },
  UP_ALREADY_RUNNING: {
    summary: 'A local network runs from this directory already',
    remedy: 'Stop it with Ctrl-C in its terminal, or choose another directory with --dir.',
  },
  UP_START_FAILED: {
    summary: 'The local network did not start',
    remedy: 'Mend what its process said; --log-level debug shows everything.',
  },
  UP_CHILD_DIED: {
    summary: 'A process of the local network ended by itself',
    remedy: 'Read its last log lines above; the run is incomplete.',
  },
  UP_INCOMPLETE: {
    summary: 'Not every subscriber got every message exactly once',
    remedy: 'The report says which node misses what.',
  },
  CONTROL_REFUSED: {
    summary: 'The control API refused the request',
    remedy: 'Send the token (authorization: Bearer …), or use http://127.0.0.1 on this machine.',
  },
  CONTROL_BUSY: {
    summary: 'The process is already doing this, or too much of it',
    remedy: 'Wait until it is done, or reset it: POST /v1/control/reset.',
  },
  GATEWAY_NO_KEYS: {
    summary: 'A gateway has no keys, and lets nobody in without one',
    remedy:
      'Make one with: runnel gateway key new NAME --file gateway-keys.json, and name the file in the setting gateway.keysFile.',
  },
  GATEWAY_FILE_MISSING: {
    summary: 'There is no file with the keys of a gateway',
    remedy: 'Check the path, or make one with: runnel gateway key new NAME --file FILE.',
  },
  GATEWAY_FILE_UNREADABLE: {
    summary: 'The file with the keys of a gateway could not be read',
    remedy: 'Check that it is a file and that you own it.',
  },
  GATEWAY_FILE_TOO_OPEN: {
    summary: 'Other users can read the file with the keys of a gateway',
    remedy: 'Protect it with chmod 600.',
  },
  GATEWAY_FILE_UNWRITABLE: {
    summary: 'The file with the keys of a gateway could not be written',
    remedy: 'Check that its directory exists, that you may write there, and that the disk has space left.',
  },
  GATEWAY_FILE_INVALID: {
    summary: 'The file with the keys of a gateway has a mistake',
    remedy: 'Correct what the message names, or make the entry again with: runnel gateway key new.',
  },
  GATEWAY_NAME_TAKEN: {
    summary: 'There is a key of that name already',
    remedy: 'Choose another name, or take the other away with: runnel gateway key remove.',
  },
  GATEWAY_NO_SUCH_KEY: {
    summary: 'There is no key of that name',
    remedy: 'Look at the names with: runnel gateway key list.',
  },
  GATEWAY_KEY_MISSING: {
    summary: 'There is no key, and the gateway lets nobody in without one',
    remedy:
      'Send the key that runnel gateway key new printed: over HTTP as Authorization: Bearer KEY, or as ?key=KEY for events and WebSockets.',
  },
  GATEWAY_KEY_WRONG: {
    summary: 'The gateway knows no such key',
    remedy:
      'Send the key that runnel gateway key new printed: over HTTP as Authorization: Bearer KEY, or as ?key=KEY for events and WebSockets. It may have expired, or have been taken away since.',
  },
  GATEWAY_NOT_ALLOWED: {
    summary: 'The key is not for this stream',
    remedy: 'Use a key that was made with --publish or --subscribe for it.',
  },
  GATEWAY_RATE: {
    summary: 'More than the key allows in a second',
    remedy: 'Wait as long as the answer says, or make a key with higher --max-… values.',
  },
  GATEWAY_TOO_MANY_CONNECTIONS: {
    summary: 'The key has as many connections as it may',
    remedy: 'Close some, or make a key with more: --max-connections.',
  },
  GATEWAY_TOO_MANY_IDENTITIES: {
    summary: 'The gateway serves as many identities at once as it may',
    remedy: 'Try again when others are idle, or have some of the keys served by another node.',
  },
  GATEWAY_CURSOR_INVALID: {
    summary: 'This is no cursor',
    remedy: 'Send one as it came with a message of the same stream, or none, to read from now on.',
  },
  GATEWAY_READER_SLOW: {
    summary: 'The reader takes messages more slowly than they come',
    remedy:
      'Connect again with the last cursor: what was missed comes from storage. Read faster, or fewer partitions.',
  },
  GATEWAY_CONTENT_TYPE: {
    summary: 'The gateway takes no content of this type',
    remedy:
      'Send application/json, text/plain or application/octet-stream; application/x-ndjson for many messages.',
  },
  GATEWAY_TOO_LARGE: {
    summary: 'The message is larger than the key allows',
    remedy: 'Send less, or make a key with a higher --max-message-bytes; the network takes up to 1 MiB.',
  },
  GATEWAY_BATCH_TOO_LARGE: {
    summary: 'More at once than the key allows in a second',
    remedy: 'Send smaller batches, or make a key with higher --max-… values.',
  },
  GATEWAY_WRONG_METHOD: {
    summary: 'This address has other methods',
    remedy: 'Use one of those that the header Allow names; GET /openapi.json says what each does.',
  },
  GATEWAY_NO_ROUTE: {
    summary: 'There is nothing at this address',
    remedy:
      'GET /openapi.json lists what there is; the id of a stream is percent-encoded in a path: 0xowner%2Fpath.',
  },
  GATEWAY_REUSED_KEY: {
    summary: 'The idempotency key was used for another request',
    remedy: 'Take a new key for each message; repeat a request with the same key and the same body only.',
  },
  GATEWAY_KEY_ENDED: {
    summary: 'The key was changed or taken away',
    remedy: 'Connect again; if that is refused, ask for another key.',
  },
  BENCH_AIM_MISSED: {
    summary: 'The run did not meet an aim',
    remedy: 'The report says what was measured, and what of it may be doubted.',
  },
  BENCH_TIMEOUT: {
    summary: 'The bench did not end in time',
    remedy:
      'The message says what was still missing; try fewer users, a lower --connrate, or a longer --settle.',
  },
  BENCH_USERS_FAILED: {
    summary: 'Users of the bench could not take part',
    remedy: 'Mend what the first of them says; a lower --connrate helps where many join at once.',
  },
  BENCH_GATEWAY_MISSING: {
    summary: 'These users need a gateway',
    remedy: 'Give its URL with --gateway and its key in RUNNEL_GATEWAY_KEY, or leave out --network.',
  },
  BENCH_GATEWAY_REFUSED: {
    summary: 'The gateway refused a user of the bench',
    remedy:
      'Look at what it said; its key must allow the stream, and as many connections as there are users.',
  },
  BENCH_PACKAGE_MISSING: {
    summary: 'Users of this kind need a package that is not installed',
    remedy: 'Install it beside Runnel: npm install NAME.',
  },
  BENCH_BROWSER_MISSING: {
    summary: 'No Chromium could be started',
    remedy: 'Install one, or say where it is: RUNNEL_CHROMIUM.',
  },
  BENCH_TOO_FEW_FILES: {
    summary: 'A generator may not open enough files for its users',
    remedy: 'Raise the limit (ulimit -n, LimitNOFILE), or spread the users over more workers.',
  },
  BENCH_TOKEN_MISSING: {
    summary: 'A bench worker needs a token of at least 16 characters',
    remedy:
      'Put one into RUNNEL_BENCH_TOKEN of the worker and of the bench, such as from: openssl rand -hex 24.',
  },
  BENCH_WORKER_PORT: {
    summary: 'The bench worker cannot listen there',
    remedy: 'Choose another --port or --host.',
  },
  BENCH_WORKER_UNREACHABLE: {
    summary: 'A bench worker cannot be reached',
    remedy: 'Check that runnel bench worker runs there, and that its port can be reached from here.',
  },
  BENCH_WORKER_REFUSED: {
    summary: 'A bench worker refused this driver',
    remedy:
      'Give it the same RUNNEL_BENCH_TOKEN, and wait until its driver is done, or start it with more --drivers.',
  },
  BENCH_WORKER_VERSION: {
    summary: 'A bench worker is of another version',
    remedy: 'Install the same version there as here: what they measure would not be the same.',
  },
  BENCH_CLOCKS_APART: {
    summary: 'The clock of a bench worker is too far from this one for its messages to be taken',
    remedy: 'Set the clocks of both machines (timedatectl, chronyc): five minutes apart is the most.',
  },
  BENCH_WORKER_LOST: {
    summary: 'The connection to a bench worker closed',
    remedy: 'Look at what the worker said last; its machine may have run out of memory.',
  },
  BENCH_WORKER_FAILED: {
    summary: 'A bench worker could not do what it was asked',
    remedy: 'Mend what it says.',
  },
  INTERRUPTED: { summary: 'Interrupted', remedy: 'Nothing to do: it was told to stop.' },
  INTERNAL: {
    summary: 'An unexpected error',
    remedy: 'Run again with --log-level debug for the details, and please report it.',
  },
} as const satisfies ErrorTable

export type NodeErrorCode = keyof typeof nodeErrors
export const nodeError = errorFactory(nodeErrors)
