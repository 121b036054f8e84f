import { errorFactory, type ErrorTable } from '@runnel/protocol'

/** Error codes of `@runnel/node`: the broker and the command line. */
export const nodeErrors = {
  USAGE: { summary: 'Wrong command line', remedy: 'See: runnel --help.' },
  CONFIG_NOT_FOUND: {
    summary: 'No such configuration file',
    remedy: 'Check the path, or write one with: runnel node init.',
  },
  CONFIG_INVALID: {
    summary: 'The configuration is invalid',
    remedy: 'Correct the named setting. The README of @runnel/node lists all settings.',
  },
  PLUGIN_NOT_FOUND: {
    summary: 'There is no such plugin package',
    remedy:
      'Install it with npm in the directory that the node starts from, or correct its name in the setting plugins.',
  },
  PLUGIN_INVALID: {
    summary: 'The package is not a plugin for this node',
    remedy: 'Use a plugin made for this version of Runnel. The README of @runnel/node describes plugins.',
  },
  NETWORK_NOT_CONFIGURED: {
    summary: 'No network is configured',
    remedy:
      'Give --network FILE or RUNNEL_NETWORK. In the folder where runnel up runs, .runnel/up/network.json is used.',
  },
  NETWORK_OWNER_MISSING: {
    summary: 'The URL does not say who signs the network’s document',
    remedy: 'Append the owner’s address, as runnel network init prints it: https://…#0xowner.',
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
      'Give each node its own directory (mqtt.directory), in which it may write. If the file is damaged, move it away: clients then start new sessions.',
  },
  KEY_REQUIRED: {
    summary: 'This command needs a private key',
    remedy: 'Make one with: runnel key new FILE. Give it with --key FILE, RUNNEL_KEY or RUNNEL_PRIVATE_KEY.',
  },
  DELEGATION_INVALID: {
    summary: 'Not a delegation',
    remedy: 'Give all of what runnel key delegate --to printed: 0x and hexadecimal digits.',
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
    remedy: 'Set it, and keep it synchronized: timedatectl set-ntp true, or the equivalent on this system.',
  },
  CHAIN_NOT_DEVELOPMENT: {
    summary: 'The chain is not a development chain',
    remedy:
      'Only a chain with id 31337 has accounts with publicly known keys. On other chains, send from an account of yours.',
  },
  FILE_EXISTS: {
    summary: 'The file already exists',
    remedy: 'Choose another name, or give --force to replace it.',
  },
  INPUT_INVALID: {
    summary: 'The input is invalid',
    remedy:
      'Correct what the message names. The command publish takes one JSON value per line, or plain text with --text, and skips bad lines with --skip-invalid.',
  },
  NO_LAST_VALUE: {
    summary: 'No last message is known',
    remedy:
      'Nothing was published there, the key was removed, or the message is older than what nodes keep. To keep last messages for longer, set "lastValues": true in the metadata of the stream, or assign a storage node.',
  },
  NO_SUCH_READER: {
    summary: 'No storage node has a cursor for this durable reader of the user',
    remedy:
      'Check its name, the stream, and whose key or delegation you use. A reader starts with subscribe --reader NAME, or with reader reset NAME --create.',
  },
  HOST_UNREACHABLE: {
    summary: 'No node given with --via is reachable and serves guests',
    remedy: 'Check their URLs, and that they run with --guests-serve (guests.serve in a configuration file).',
  },
  TRACKER_UNREACHABLE: {
    summary: 'No tracker of the network could be reached',
    remedy:
      'Check that the trackers of the network are running, and that their registered addresses are correct.',
  },
  STORAGE_UNREACHABLE: {
    summary: 'The storage node does not answer over HTTP',
    remedy:
      'Give the address that it logs when it starts (http.host, http.port). storage.enabled must be set.',
  },
  INSUFFICIENT_FUNDS: {
    summary: 'The account of the key cannot pay for the transaction',
    remedy:
      'Send it some of the chain’s currency (on a development chain, with: runnel chain fund), or give the key of an account that has some.',
  },
  UP_ALREADY_RUNNING: {
    summary: 'A local network already runs from this directory',
    remedy: 'Stop it with Ctrl-C in its terminal, or choose another directory with --dir.',
  },
  UP_START_FAILED: {
    summary: 'The local network did not start',
    remedy: 'Fix what its process reported. --log-level debug shows everything.',
  },
  UP_CHILD_DIED: {
    summary: 'A process of the local network ended unexpectedly',
    remedy: 'Read its last log lines above. The run is incomplete.',
  },
  UP_INCOMPLETE: {
    summary: 'Not every subscriber got every message exactly once',
    remedy: 'The report says which messages each node misses.',
  },
  CONTROL_REFUSED: {
    summary: 'The control API refused the request',
    remedy: 'Send the token (authorization: Bearer …), or use http://127.0.0.1 on this machine.',
  },
  CONTROL_BUSY: {
    summary: 'The process is already doing this, or too much of it',
    remedy: 'Wait until it is done, or reset it with POST /v1/control/reset.',
  },
  GATEWAY_NO_KEYS: {
    summary: 'The gateway requires keys, but has none',
    remedy:
      'Make one with: runnel gateway key new NAME --file gateway-keys.json. Then name the file in the setting gateway.keysFile.',
  },
  GATEWAY_FILE_MISSING: {
    summary: 'There is no gateway key file',
    remedy: 'Check the path, or make the file with: runnel gateway key new NAME --file FILE.',
  },
  GATEWAY_FILE_UNREADABLE: {
    summary: 'The gateway key file could not be read',
    remedy: 'Check that it is a file and that you own it.',
  },
  GATEWAY_FILE_TOO_OPEN: {
    summary: 'Other users can read the gateway key file',
    remedy: 'Protect it with chmod 600.',
  },
  GATEWAY_FILE_UNWRITABLE: {
    summary: 'The gateway key file could not be written',
    remedy: 'Check that its directory exists, that you may write there, and that the disk has space left.',
  },
  GATEWAY_FILE_LOCKED: {
    summary: 'Another process is changing the gateway key file',
    remedy: 'Run the command again. If no other one is running, remove the lock file first.',
  },
  GATEWAY_FILE_INVALID: {
    summary: 'The gateway key file is invalid',
    remedy: 'Correct what the message names, or make the entry again with: runnel gateway key new.',
  },
  GATEWAY_NAME_TAKEN: {
    summary: 'There is already a key of that name',
    remedy: 'Choose another name, or remove the other key with: runnel gateway key remove.',
  },
  GATEWAY_NO_SUCH_KEY: {
    summary: 'There is no key of that name',
    remedy: 'List the names with: runnel gateway key list.',
  },
  GATEWAY_KEY_MISSING: {
    summary: 'The gateway requires a key, and none was sent',
    remedy:
      'Send the key that runnel gateway key new printed: over HTTP as Authorization: Bearer KEY, or as ?key=KEY for events and WebSockets.',
  },
  GATEWAY_KEY_WRONG: {
    summary: 'The gateway does not know this key',
    remedy:
      'Send the key that runnel gateway key new printed: over HTTP as Authorization: Bearer KEY, or as ?key=KEY for events and WebSockets. It may also have expired or been removed.',
  },
  GATEWAY_NOT_ALLOWED: {
    summary: 'The key is not for this stream',
    remedy: 'Use a key that was made with --publish or --subscribe for it.',
  },
  GATEWAY_RATE: {
    summary: 'More than the key allows per second',
    remedy: 'Wait as long as the answer says, or make a key with higher --max-… values.',
  },
  GATEWAY_TOO_MANY_CONNECTIONS: {
    summary: 'The key has reached its limit of connections',
    remedy: 'Close some, or make a key with a higher --max-connections.',
  },
  GATEWAY_TOO_MANY_IDENTITIES: {
    summary: 'The gateway already serves as many identities at once as it can',
    remedy: 'Try again when others are idle, or let another node serve some of the keys.',
  },
  GATEWAY_CURSOR_INVALID: {
    summary: 'This is not a cursor',
    remedy: 'Send a cursor as it came with a message of the same stream. To read from now on, send none.',
  },
  GATEWAY_READER_SLOW: {
    summary: 'The reader is slower than the messages arrive',
    remedy:
      'Connect again with the last cursor: missed messages come from storage. Read faster, or read fewer partitions.',
  },
  GATEWAY_CONTENT_TYPE: {
    summary: 'The gateway does not accept content of this type',
    remedy:
      'Send application/json, text/plain or application/octet-stream. For many messages, send application/x-ndjson.',
  },
  GATEWAY_TOO_LARGE: {
    summary: 'The message is larger than the key allows',
    remedy: 'Send less, or make a key with a higher --max-message-bytes. The network accepts up to 1 MiB.',
  },
  GATEWAY_BATCH_TOO_LARGE: {
    summary: 'The batch is larger than the key allows per second',
    remedy: 'Send smaller batches, or make a key with higher --max-… values.',
  },
  GATEWAY_WRONG_METHOD: {
    summary: 'This address does not support the method',
    remedy: 'Use a method that the Allow header lists. GET /openapi.json says what each does.',
  },
  GATEWAY_NO_ROUTE: {
    summary: 'There is nothing at this address',
    remedy:
      'GET /openapi.json lists all addresses. In a path, percent-encode the id of the stream: 0xowner%2Fpath.',
  },
  GATEWAY_REUSED_KEY: {
    summary: 'The idempotency key was used for another request',
    remedy: 'Use a new key for each message. Repeat a key only with the same request and the same body.',
  },
  GATEWAY_KEY_ENDED: {
    summary: 'The key was changed or removed',
    remedy: 'Connect again. If that is refused, ask for another key.',
  },
  GATEWAY_STOPPING: {
    summary: 'The gateway is stopping',
    remedy: 'Connect again a little later. With a cursor, reading goes on where it was.',
  },
  BENCH_AIM_MISSED: {
    summary: 'The run missed an aim',
    remedy: 'The report says what was measured, and which figures are doubtful.',
  },
  BENCH_TIMEOUT: {
    summary: 'The bench did not end in time',
    remedy:
      'The message says what was still missing. Try fewer users, a lower --connrate, or a longer --settle.',
  },
  BENCH_USERS_FAILED: {
    summary: 'Some users of the bench could not take part',
    remedy: 'Fix what the first of them reports. A lower --connrate helps when many join at once.',
  },
  BENCH_GATEWAY_MISSING: {
    summary: 'These users need a gateway',
    remedy: 'Give its URL with --gateway and its key in RUNNEL_GATEWAY_KEY, or leave out --network.',
  },
  BENCH_GATEWAY_UNREACHABLE: {
    summary: 'The gateway cannot be reached',
    remedy: 'Check its URL and port, and that its node is running with this gateway enabled.',
  },
  BENCH_GATEWAY_REFUSED: {
    summary: 'The gateway refused a user of the bench',
    remedy: 'Read its answer. Its key must allow the stream, and as many connections as there are users.',
  },
  BENCH_PACKAGE_MISSING: {
    summary: 'Users of this kind need a package that is not installed',
    remedy: 'Install it beside Runnel: npm install NAME.',
  },
  BENCH_BROWSER_MISSING: {
    summary: 'No Chromium could be started',
    remedy: 'Install one, or give its path in RUNNEL_CHROMIUM.',
  },
  BENCH_TOO_FEW_FILES: {
    summary: 'A generator cannot open enough files for its users',
    remedy: 'Raise the limit (ulimit -n, LimitNOFILE), or spread the users over more workers.',
  },
  BENCH_TOKEN_MISSING: {
    summary: 'A bench and its workers need a token of at least 16 characters',
    remedy:
      'Set RUNNEL_BENCH_TOKEN for the worker and for the bench, for example to the output of: openssl rand -hex 24.',
  },
  BENCH_WORKER_PORT: {
    summary: 'The bench worker cannot listen there',
    remedy: 'Choose another --port or --host.',
  },
  BENCH_WORKER_UNREACHABLE: {
    summary: 'A bench worker cannot be reached',
    remedy: 'Check that runnel bench worker is running there, and that its port is reachable from here.',
  },
  BENCH_WORKER_REFUSED: {
    summary: 'A bench worker refused this driver',
    remedy:
      'Give both the same RUNNEL_BENCH_TOKEN. If the worker serves another driver, wait until that is done, or start it with more --drivers.',
  },
  BENCH_WORKER_VERSION: {
    summary: 'A bench worker has another version',
    remedy: 'Install the same version on both machines: their figures would not be comparable.',
  },
  BENCH_CLOCKS_APART: {
    summary: 'The clock of a bench worker is too far from this one: its messages would be rejected',
    remedy:
      'Set the clocks of both machines (timedatectl, chronyc). They may differ by at most five minutes.',
  },
  BENCH_WORKER_LOST: {
    summary: 'The connection to a bench worker closed',
    remedy:
      'Read what the worker printed last. It was told to end, or its machine may have run out of memory.',
  },
  BENCH_WORKER_FAILED: {
    summary: 'A bench worker could not carry out a request',
    remedy: 'Fix what it reports.',
  },
  INTERRUPTED: { summary: 'Interrupted', remedy: 'Nothing to do: it was told to stop.' },
  INTERNAL: {
    summary: 'An unexpected error',
    remedy: 'Run again with --log-level debug for the details, and please report it.',
  },
} as const satisfies ErrorTable

export type NodeErrorCode = keyof typeof nodeErrors
export const nodeError = errorFactory(nodeErrors)
