import { defineCommand } from '../cli/command.ts'
import { printResult } from '../cli/output.ts'
import { readPassword, readSecretInput } from '../cli/secret-input.ts'
import { ethereumPath, importKey } from '../keys/import-key.ts'
import { saveKey } from '../keys/key-file.ts'

export const keyImport = defineCommand({
  name: 'key import',
  describe: 'Make a key file from a key of a wallet: hexadecimal digits, a mnemonic or a JSON keystore',
  positionals: { file: { describe: 'Where to write it; never overwritten', required: true } },
  options: {
    from: {
      type: 'string',
      requiresArg: true,
      describe: 'File with the key; default: standard input, which a terminal does not show',
    },
    'derivation-path': {
      type: 'string',
      requiresArg: true,
      default: ethereumPath,
      describe: 'Of a mnemonic: which of its keys (BIP-32)',
    },
    'password-file': {
      type: 'string',
      requiresArg: true,
      describe:
        'File with the password of a keystore, which is asked for else; or with the passphrase of a mnemonic',
    },
  },
  examples: [
    [
      'key import my.key --from keystore.json',
      'Asks for the password, writes my.key (mode 600), prints the address',
    ],
    [
      "key import my.key --derivation-path m/44'/60'/0'/0/1",
      'The second account of the mnemonic that is typed in',
    ],
  ],
  epilogue:
    'The key and its password are never taken from the command line, which others on the machine can see. What is given is told by its form: 64 hexadecimal digits, 12 to 24 English words (BIP-39), or an encrypted keystore (Web3 Secret Storage, version 3). The file it came from is left as it is: delete it if it is not encrypted.',
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
