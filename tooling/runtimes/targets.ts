import { join } from 'node:path'

interface Runtime {
  /** The package that npm installs. */
  installs: string
  /** The command of each program, for the `node_modules` with the runtime. */
  programs: Readonly<Record<string, (tools: string) => string[]>>
}

const node = (version: string): Runtime => {
  const name = `node${version.split('.')[0]}`
  // The oldest strips types of the programs only with a flag.
  const command = (tools: string) => [
    join(tools, name, 'bin/node'),
    '--no-warnings',
    '--experimental-strip-types',
  ]
  return {
    installs: `${name}@npm:node@${version}`,
    programs: {
      import: (tools) => [...command(tools), 'import.mjs'],
      require: (tools) => [...command(tools), 'require.cjs'],
    },
  }
}

/** The runtimes with a command, by name. */
export const runtimes: Readonly<Record<string, Runtime>> = {
  // The oldest that the packages' `engines` allow.
  node22: node('22.13.0'),
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

export const workerd = { installs: 'miniflare@4.20260730.0', compatibilityDate: '2026-08-06' }
