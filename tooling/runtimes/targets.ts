/**
 * Where the packages must work: what has to be installed for it, and what is run.
 *
 * @module
 */
import { join } from 'node:path'

/** A runtime that runs a program of its own. */
export interface Runtime {
  /** What is installed, for npm. */
  installs: string
  /** How the programs are run, each with what it shows. */
  programs: Readonly<Record<string, (tools: string) => string[]>>
}

const node = (version: string): Runtime => {
  const name = `node${version.split('.')[0]}`
  const command = (tools: string) => [join(tools, name, 'bin/node'), '--no-warnings']
  return {
    installs: `${name}@npm:node@${version}`,
    programs: {
      import: (tools) => [...command(tools), 'import.mjs'],
      require: (tools) => [...command(tools), 'require.cjs'],
    },
  }
}

/** The runtimes with a program, by name. */
export const runtimes: Readonly<Record<string, Runtime>> = {
  node22: node('22.23.3'),
  node24: node('24.9.0'),
  node26: node('26.9.0'),
  bun: {
    installs: 'bun@1.4.4',
    programs: { import: (tools) => [join(tools, 'bun/bin/bun.exe'), 'import.mjs'] },
  },
  deno: {
    installs: 'deno@2.9.6',
    programs: {
      import: (tools) => [
        process.execPath,
        join(tools, 'deno/bin.cjs'),
        ...['run', '--no-lock', '--allow-net', '--allow-read', '--allow-env', 'import.mjs'],
      ],
    },
  },
}

/** Workers: a bundle, without any of Node's modules. */
export const workerd = { installs: 'miniflare@4.20260730.0', compatibilityDate: '2026-08-06' }

/** The compilers of consumers. */
export const compilers: Readonly<Record<string, string>> = {
  '5.9': 'typescript-5.9@npm:typescript@5.9.3',
  '6.0': 'typescript-6.0@npm:typescript@6.0.3',
  '7.0': 'typescript-7.0@npm:typescript@7.0.2',
}

/** How consumers resolve modules, with the `module` that goes with it. */
export const resolutions: Readonly<Record<string, string>> = { nodenext: 'nodenext', bundler: 'esnext' }
