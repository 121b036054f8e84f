/** Where the keys of a gateway are. */
export const keysFileOption = {
  file: {
    type: 'string',
    default: 'gateway-keys.json',
    describe: 'Gateway key file, as in the setting gateway.keysFile',
  },
} as const
