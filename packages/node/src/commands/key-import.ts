import { defineCommand } from '../cli/command.ts'
import { printResult } from '../cli/output.ts'
import { readPassword, readSecretInput } from '../cli/secret-input.ts'
import { ethereumPath, importKey } from '../keys/import-key.ts'
import { saveKey } from '../keys/key-file.ts'

export const keyImport = defineCommand({
  name: 'key import',
  describe: 'Make a key file from a wallet key: hexadecimal digits, a mnemonic or a JSON keystore',
  positionals: { file: { describe: 'File to write; an existing file is never overwritten', required: true } },
  options: {
    from: {
      type: 'string',
      describe: 'File with the key. Default: standard input, not echoed on a terminal',
    },
    'derivation-path': {
      type: 'string',
      default: ethereumPath,
      describe: 'With a mnemonic: which of its keys (BIP-32)',
    },
    'password-file': {
      type: 'string',
      describe:
        'File with the password of a keystore, or the passphrase of a mnemonic. Without it, the command asks for a keystore password',
    },
  },
  examples: [
    [
      'key import my.key --from keystore.json',
      'Asks for the password, writes my.key (mode 600), prints the address',
    ],
    [
      "key import my.key --derivation-path m/44'/60'/0'/0/1",
      'The second account of a mnemonic that you type in',
    ],
  ],
  epilogue:
    'The key and its password are never read from the command line, because others on the machine can see it. The format is detected: 64 hexadecimal digits, 12 to 24 English words (BIP-39), or an encrypted keystore (Web3 Secret Storage, version 3). The source file is not changed: delete it if it is not encrypted.',
  run: async ({ file, from, 'derivation-path': derivationPath, 'password-file': passwordFile, json }) => {
    const text = await readSecretInput(from, 'Key, mnemonic or keystore')
    const privateKey = await importKey(text, {
      derivationPath,
      passphrase: passwordFile === undefined ? undefined : await readPassword(passwordFile),
      password: () => readPassword(passwordFile),
    })
    const { nodeId } = await saveKey(file, privateKey)
    printResult({ file, address: nodeId }, json, [nodeId])
  },
})
