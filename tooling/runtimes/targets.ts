import { join } from 'node:path'

interface Runtime {
  /** The packages that npm installs. */
  installs: readonly string[]
  /** The command that runs a program, for the `node_modules` with the runtime. */
  command: (tools: string) => string[]
  /** By the way in which they load the packages. */
  programs: Readonly<Record<string, string>>
}

const both = { import: 'import.mjs', require: 'require.cjs' }

const node = (version: string): Runtime => {
  const name = `node${version.split('.')[0]}`
  return {
    installs: [`${name}@npm:node@${version}`],
    // The oldest strips types of the programs only with a flag.
    command: (tools) => [join(tools, name, 'bin/node'), '--no-warnings', '--experimental-strip-types'],
    programs: both,
  }
}

/** The runtimes with a command, by name. `node` is the one that runs this. */
export const runtimes: Readonly<Record<string, Runtime>> = {
  node: { installs: [], command: () => [process.execPath, '--no-warnings'], programs: both },
  // The oldest that the packages' `engines` allow.
  node22: node('22.13.0'),
  node24: node('24.9.0'),
  node26: node('26.9.0'),
  bun: {
    installs: ['bun@1.4.4'],
    command: (tools) => [join(tools, 'bun/bin/bun.exe')],
    programs: { import: 'import.mjs' },
  },
  deno: {
    installs: ['deno@2.9.6'],
    command: (tools) => [
      process.execPath,
      join(tools, 'deno/bin.cjs'),
      ...['run', '--no-lock', '--allow-net', '--allow-read', '--allow-env'],
    ],
    programs: { import: 'import.mjs' },
  },
}

export const workerd = { installs: 'miniflare@4.20260730.0', compatibilityDate: '2026-08-06' }
