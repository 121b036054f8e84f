import tseslint from 'typescript-eslint'

/** What a pure core may not touch: time, randomness, input and output come in as arguments and events. */
const coreGlobals = [
  'Date',
  'performance',
  'setTimeout',
  'setInterval',
  'setImmediate',
  'queueMicrotask',
  'fetch',
  'crypto',
  'process',
  'console',
  'Buffer',
]

export default tseslint.config(
  {
    ignores: [
      '**/dist/',
      '**/generated/',
      '.tools/',
      '.runnel/',
      'coverage/',
      '**/*.cjs',
      '**/*.mjs',
      '**/*.js',
    ],
  },
  ...tseslint.configs.recommended,
  ...tseslint.configs.recommendedTypeCheckedOnly,
  {
    // Two programs, as in `npm run lint`: pages have the DOM. Faster than one for each package.
    languageOptions: {
      parserOptions: {
        project: ['tsconfig.check.json', 'tsconfig.pages.json'],
        tsconfigRootDir: import.meta.dirname,
      },
    },
    rules: {
      '@typescript-eslint/no-deprecated': 'error',
      '@typescript-eslint/return-await': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true },
      ],
      '@typescript-eslint/use-unknown-in-catch-callback-variable': 'error',
      // What was caught may be thrown on, whatever its type: the plain rules see to the rest.
      '@typescript-eslint/only-throw-error': 'off',
      'no-throw-literal': 'error',
      '@typescript-eslint/prefer-promise-reject-errors': 'off',
      'prefer-promise-reject-errors': 'error',
      // Off: they find style here, and no bugs.
      '@typescript-eslint/no-base-to-string': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/require-await': 'off',
      '@typescript-eslint/restrict-template-expressions': 'off',
      '@typescript-eslint/unbound-method': 'off',
    },
  },
  {
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    rules: {
      eqeqeq: 'error',
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', ignoreRestSiblings: true }],
    },
  },
  {
    files: ['**/src/**/core/**/*.ts'],
    ignores: ['**/*.test.ts', '**/*.testkit.ts'],
    rules: {
      'no-restricted-globals': ['error', ...coreGlobals],
      'no-restricted-properties': [
        'error',
        { object: 'Math', property: 'random', message: 'Randomness is injected.' },
      ],
      'no-restricted-syntax': [
        'error',
        { selector: 'AwaitExpression', message: 'Cores are synchronous.' },
        { selector: 'ImportDeclaration[source.value=/^node:/]', message: 'Cores do no I/O.' },
      ],
    },
  },
  {
    // Its bytes are those of a codec for Node, and it never runs in a page.
    files: ['packages/node/src/gateway/mqtt/core/**/*.ts'],
    ignores: ['**/*.test.ts'],
    rules: {
      'no-restricted-globals': ['error', ...coreGlobals.filter((name) => name !== 'Buffer')],
      'no-restricted-syntax': [
        'error',
        { selector: 'AwaitExpression', message: 'Cores are synchronous.' },
        {
          selector: 'ImportDeclaration[source.value=/^node:(?!buffer$)/]',
          message: 'Cores do no I/O.',
        },
      ],
    },
  },
  {
    files: ['**/*.test.ts', '**/*.testkit.ts'],
    rules: {
      'no-restricted-syntax': [
        'error',
        {
          selector:
            'CallExpression[callee.object.name=/^(it|test|describe)$/][callee.property.name=/^(skip|only|todo)$/]',
          message: 'Tests run, all of them.',
        },
      ],
    },
  },
)
